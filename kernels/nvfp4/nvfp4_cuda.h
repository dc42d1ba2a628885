// NVFP4 on a GPU, asynchronously on a stream of the current device.
#pragma once

#include <cstdint>

#include "kernels/nvfp4/nvfp4.h"

struct CUstream_st;

namespace bitproof::kernels::cuda {

// As host::quantise_nvfp4. `largest` is scratch, one number in device memory; the scales' memory beyond
// [rows, blocks] of a tiled layout must be 0 already.
void quantise_nvfp4(const Matrix& input, const Nvfp4Matrix& matrix, std::uint32_t* largest,
                    CUstream_st* stream);

// As host::dequantise_nvfp4.
void dequantise_nvfp4(const Nvfp4Matrix& matrix, const Matrix& output, CUstream_st* stream);

// {a * b, 0}: what LinearPlan::run_scaled takes.
void multiply_scales(const float* a, const float* b, float* product_and_zero, CUstream_st* stream);

}  // namespace bitproof::kernels::cuda
