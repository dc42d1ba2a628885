// The production operators, each a predicate and a kernel:
//
//   gelu_tanh(x)            = round(gelu(widen(x)))
//   bias_gelu_tanh(x, bias) = round(gelu(widen(round(widen(x) + widen(bias)))))
//
// with the tanh form of GELU in FP32 and every rounding to nearest, ties to even, to the dtype of x: the bits
// of PyTorch 2.11 CUDA eager, for every pair of inputs, NaN and zeros included (profile "pytorch-2.11-cuda").
//
// input and output: [..., width], bias: [width]; bf16 or fp16; output may be the input. A kernel whose
// predicate says no throws Refused with the same reason and touches nothing.
#pragma once

#include <dlpack/dlpack.h>

#include "kernels/elementwise_guard.h"

// The runtime's stream handle, without its headers: CPU-only builds have none.
struct CUstream_st;

namespace bitproof::kernels {

// On the CPU. `vector_bytes` selects which architecture's form of the loop runs: 16 (before sm_100) or 32.
namespace host {
Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output, int vector_bytes = 16);
Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output,
                                     int vector_bytes = 16);
void gelu_tanh(const DLTensor& input, const DLTensor& output, int vector_bytes = 16);
void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, int vector_bytes = 16);
}  // namespace host

// On the GPU that holds the tensors, asynchronously on `stream`: one pass, vectorised, the production form.
namespace cuda {
Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output);
Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output);
void gelu_tanh(const DLTensor& input, const DLTensor& output, CUstream_st* stream);
void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, CUstream_st* stream);
}  // namespace cuda

// What PyTorch runs: the sum rounded to the dtype by one kernel, GELU with CUDA's tanhf by a second. Scalar
// accesses; any alignment. The output holds the sum between the two.
namespace cuda::eager {
Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output);
Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output);
void gelu_tanh(const DLTensor& input, const DLTensor& output, CUstream_st* stream);
void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, CUstream_st* stream);
}  // namespace cuda::eager

// The published one-pass form: one-dimensional persistent grid, 16-byte vectors, bias index by remainder,
// tanhf.
namespace cuda::baseline {
Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output);
Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output);
void gelu_tanh(const DLTensor& input, const DLTensor& output, CUstream_st* stream);
void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, CUstream_st* stream);
}  // namespace cuda::baseline

}  // namespace bitproof::kernels
