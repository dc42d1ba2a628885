# Puts together what the wheel holds: cmake -DSTAGE=... -P stage.cmake
file(REMOVE_RECURSE ${STAGE})
file(COPY ${SOURCE}/bitproof ${SOURCE}/setup.py ${LICENSE} DESTINATION ${STAGE} PATTERN __pycache__ EXCLUDE)
file(WRITE ${STAGE}/VERSION ${VERSION})
file(COPY ${HEADER} DESTINATION ${STAGE}/bitproof/include)
file(COPY ${DLPACK} DESTINATION ${STAGE}/bitproof/include/dlpack)
file(COPY ${BINARIES} DESTINATION ${STAGE}/bitproof/lib)
foreach(binary ${BINARIES})
  get_filename_component(name ${binary} NAME)
  execute_process(COMMAND ${STRIP} --strip-unneeded ${STAGE}/bitproof/lib/${name} COMMAND_ERROR_IS_FATAL ANY)
endforeach()

# The shared libraries that no Python environment is sure to have travel along, under the names by which they are looked
# for; $ORIGIN is where.
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${BINARIES}
  RESOLVED_DEPENDENCIES_VAR companions UNRESOLVED_DEPENDENCIES_VAR ignored
  PRE_INCLUDE_REGEXES "^libtbb\\.so" "^libhwy\\.so" "^libfmt\\.so" PRE_EXCLUDE_REGEXES ".*")
foreach(companion ${companions})
  get_filename_component(name ${companion} NAME)
  file(REAL_PATH ${companion} file)
  file(COPY_FILE ${file} ${STAGE}/bitproof/lib/${name})
endforeach()

# And their terms, those of the headers and archives inside too, where Debian and Ubuntu keep them.
foreach(package libcli11-dev libdlpack-dev libfmt-dev libhwy-dev libpugixml-dev libssl-dev libtbb-dev nlohmann-json3-dev)
  set(terms /usr/share/doc/${package}/copyright)
  if(EXISTS ${terms})
    file(MAKE_DIRECTORY ${STAGE}/bitproof/licenses)
    file(REAL_PATH ${terms} file)
    file(COPY_FILE ${file} ${STAGE}/bitproof/licenses/${package}.txt)
  endif()
endforeach()
