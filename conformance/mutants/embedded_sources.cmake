# Writes SOURCES, files as "NAME=PATH", as rows of a C++ table of names and texts to OUTPUT.
set(table "// Written by the build.\n")
foreach(source IN LISTS SOURCES)
  string(REGEX MATCH "^([^=]+)=(.+)$" whole "${source}")
  file(READ "${CMAKE_MATCH_2}" text)
  string(APPEND table "{\"${CMAKE_MATCH_1}\", R\"source(${text})source\"},\n")
endforeach()
file(WRITE ${OUTPUT} "${table}")
