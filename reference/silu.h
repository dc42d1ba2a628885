// SiLU in FP32, as PyTorch's CUDA kernel evaluates it: silu(x) = x / (1 + exp(-x)).
//
// Source: aten/src/ATen/native/cuda/ActivationSiluKernel.cu, silu_kernel. nvcc 13.0 contracts the product that
// ends expf and the sum into one FMA; the division is IEEE's (div.rn).
#pragma once

#include <cmath>

#include "reference/expf.h"

namespace bitproof::reference {

// Every intermediate of one evaluation, in order.
struct SiluSteps {
  float exponent = 0;      // of 2: floor(-x * log2(e)), held between -126 and 126
  float ex2 = 0;           // the factor of exp(-x) that the special-function unit gives
  float one_plus_exp = 0;  // ex2 * 2^exponent + 1, one FMA
  float result = 0;        // x / one_plus_exp
};

inline SiluSteps silu_steps(float x) {
  const CudaExpSteps exp = cuda_exp_steps(-x);
  SiluSteps step;
  step.exponent = exp.exponent;
  step.ex2 = exp.ex2;
  step.one_plus_exp = std::fma(exp.ex2, exp.power_of_two, 1.0f);
  step.result = x / step.one_plus_exp;
  return step;
}

// Before it is rounded to the dtype. The bits of a NaN are not specified here: the last rounding fixes them.
inline float silu_fp32(float x) { return silu_steps(x).result; }

}  // namespace bitproof::reference
