# What every target of ours has in common: C++20, our warnings as errors, no contraction of floating-point
# expressions, and includes that start with the folder's name.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)

# Binaries move to GPU machines together with their few shared libraries.
set(CMAKE_BUILD_RPATH "$ORIGIN")

add_library(bitproof_common INTERFACE)
target_include_directories(bitproof_common INTERFACE ${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR}/generated)
target_compile_options(bitproof_common INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wconversion;-Wshadow;-Werror;-ffp-contract=off>)

# bitproof_unity(TARGET): under BITPROOF_UNITY, TARGET's sources are compiled a dozen at a time, so that the headers they
# share are read once. For targets of many small sources; their file-local names must differ.
function(bitproof_unity target)
  if(BITPROOF_UNITY)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 12)
    # Within one such unit a class may hold members of file-local types, as it may in its own source.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

# bitproof_test(NAME SOURCES... LIBRARIES...): a GoogleTest executable whose tests ctest knows one by one.
function(bitproof_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LIBRARIES" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE bitproof_common ${arg_LIBRARIES} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE BITPROOF_FIXTURES="${PROJECT_SOURCE_DIR}/fixtures")
  # Assertions are much code that runs once: -O1 halves the time of compiling it, and what loops is in the libraries.
  target_compile_options(${name} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  bitproof_unity(${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 PROPERTIES TIMEOUT ${arg_TIMEOUT})
endfunction()
