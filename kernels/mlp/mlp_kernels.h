// The elementwise kernels of an MLP that are not GELU, asynchronously on a stream of the current device.
#pragma once

#include <cstdint>

#include "kernels/mlp/matrix.h"

struct CUstream_st;

namespace bitproof::kernels::cuda {

// matrix = round(matrix + bias) in place, the bias a vector of the matrix' width. Both aligned to 16 bytes, the
// width a multiple of 8.
void add_bias(const Matrix& matrix, const std::uint16_t* bias, CUstream_st* stream);

// Lowers *first, in device memory, to the least index at which the 16 bits of a and b differ.
void find_first_difference(const std::uint16_t* a, const std::uint16_t* b, std::int64_t count,
                           unsigned long long* first, CUstream_st* stream);

}  // namespace bitproof::kernels::cuda
