# Writes the rows of a C++ table to OUTPUT. ROWS: (implementation, architecture, file)...
set(text "// Written by the build.\n")
while(ROWS)
  list(POP_FRONT ROWS implementation architecture file)
  file(SHA256 ${file} sha256)
  get_filename_component(name ${file} NAME)
  string(APPEND text "{\"${implementation}\", \"${architecture}\", \"${name}\", \"${sha256}\"},\n")
endwhile()
file(WRITE ${OUTPUT} "${text}")
