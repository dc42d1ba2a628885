// The production kernels' CUDA halves as the C interface calls them. In a build without CUDA they throw
// kernels::Refused.
#pragma once

#include <dlpack/dlpack.h>

struct CUstream_st;

namespace bitproof::conformance::c_api {

void gelu_tanh_on_gpu(const DLTensor& input, const DLTensor& output, CUstream_st* stream);
void bias_gelu_tanh_on_gpu(const DLTensor& input, const DLTensor& bias, const DLTensor& output,
                           CUstream_st* stream);

// Plans are made once for a shape, dtype, device and stream, and kept: two calls of one plan would share its
// workspace, and calls on one stream do not overlap.
void linear_gelu_tanh_on_gpu(const DLTensor& x, const DLTensor& weight, const DLTensor& bias,
                             const DLTensor& output, CUstream_st* stream);

}  // namespace bitproof::conformance::c_api
