// The kernels of an MLP that are neither GEMM nor GELU, asynchronously on a stream of the current device.
#pragma once

#include <cstdint>

#include "kernels/mlp/matrix.h"
#include "kernels/nvfp4/nvfp4.h"

struct CUstream_st;

namespace bitproof::kernels::cuda {

// matrix = round(matrix + bias) in place, the bias a vector of the matrix' width. Both aligned to 16 bytes, the
// width a multiple of 8.
void add_bias(const Matrix& matrix, const std::uint16_t* bias, CUstream_st* stream);

// Lowers *first, in device memory, to the least index at which the 16 bits of a and b differ.
void find_first_difference(const std::uint16_t* a, const std::uint16_t* b, std::int64_t count,
                           unsigned long long* first, CUstream_st* stream);

// --- NVFP4 -------------------------------------------------------------------------------------------------

// As host::quantise_nvfp4. `largest` is scratch, one number in device memory; the scales' memory beyond
// [rows, blocks] of a tiled layout must be 0 already.
void quantise_nvfp4(const Matrix& input, const Nvfp4Matrix& matrix, std::uint32_t* largest,
                    CUstream_st* stream);

// As host::dequantise_nvfp4.
void dequantise_nvfp4(const Nvfp4Matrix& matrix, const Matrix& output, CUstream_st* stream);

// {a * b, 0}: what LinearPlan::run_scaled takes.
void multiply_scales(const float* a, const float* b, float* product_and_zero, CUstream_st* stream);

}  // namespace bitproof::kernels::cuda
