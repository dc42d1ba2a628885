# Finds nvcc and defines how we compile for it. Without nvcc the CPU half is built, and says so.
#
#   BITPROOF_HAVE_CUDA     whether CUDA code is built
#   BITPROOF_ARCHITECTURES the architectures compiled for: 80 86 89 90 100 103 120, those of kernels/architecture.h
#   bitproof_cuda_library(NAME SOURCES...)   a static library of .cu and .cpp files
set(BITPROOF_ARCHITECTURES 80 86 89 90 100 103 120)
set(BITPROOF_HAVE_CUDA OFF)

if(BITPROOF_CUDA)
  include(CheckLanguage)
  # Machine code for each listed architecture, and PTX of sm_100 for those between and after them.
  list(TRANSFORM BITPROOF_ARCHITECTURES APPEND -real OUTPUT_VARIABLE CMAKE_CUDA_ARCHITECTURES)
  list(APPEND CMAKE_CUDA_ARCHITECTURES 100-virtual)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    # CMake 3.25 does not know yet that nvcc has C++20.
    if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    find_package(CUDAToolkit 13.0 REQUIRED)
    set(BITPROOF_HAVE_CUDA ON)
  else()
    message(WARNING "No nvcc found: building the CPU half only. Set CUDACXX, or put CUDA 13.0's nvcc on PATH.")
  endif()
endif()

# Flags of every device compilation, also of the cubins that the machine-code keys are taken from.
set(BITPROOF_NVCC_FLAGS -O3 --expt-relaxed-constexpr -diag-suppress=20012)

function(bitproof_cuda_library name)
  add_library(${name} STATIC ${ARGN})
  target_link_libraries(${name} PUBLIC bitproof_common CUDA::cudart_static)
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CUDA>:${BITPROOF_NVCC_FLAGS};-Werror=all-warnings;-Xcompiler=-Wall,-Wextra,-Wshadow,-Werror>)
endfunction()
