# Turns the coefficient tables in fixtures/special_function_unit into constexpr arrays.
#
# A table is a CSV file with a header line and the columns ...,C0,C1,C2, one segment per line in ascending order.

# Writes the header OUTPUT with one array per FUNCTION, read from DIRECTORY/<function>.csv. A changed table makes the
# build configure again; an unchanged header keeps its time stamp.
function(bitproof_generate_unit_tables output directory)
  set(BITPROOF_UNIT_TABLES "")
  foreach(function IN LISTS ARGN)
    set(csv ${directory}/${function}.csv)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${csv})
    file(STRINGS ${csv} lines)
    list(POP_FRONT lines header)
    if(NOT header MATCHES ",C0,C1,C2$")
      message(FATAL_ERROR "${csv}: the header must end in ,C0,C1,C2 and is: ${header}")
    endif()
    list(LENGTH lines count)
    set(rows "")
    foreach(line IN LISTS lines)
      if(NOT line MATCHES "^[0-9,]+,(-?[0-9]+),(-?[0-9]+),(-?[0-9]+)$")
        message(FATAL_ERROR "${csv}: not a row of integers: ${line}")
      endif()
      string(APPEND rows "    {${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}, ${CMAKE_MATCH_3}},\n")
    endforeach()
    string(APPEND BITPROOF_UNIT_TABLES
      "\ninline constexpr std::array<Segment, ${count}> k_${function}_segments{{\n${rows}}};\n")
  endforeach()
  configure_file(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/sfu_tables.h.in ${output} @ONLY)
endfunction()
