// The erf form of GELU in FP32, as PyTorch's CUDA kernel evaluates it:
//
//     gelu(x) = (x * 0.5) * (1 + erf(x * sqrt(1/2)))
//
// Source: aten/src/ATen/native/cuda/ActivationGeluKernel.cu, GeluCUDAKernelImpl, approximate="none".
#pragma once

#include "reference/erff.h"
#include "reference/gelu.h"

namespace bitproof::reference {

inline constexpr float kSquareRootOfHalf = float_from_bits(0x3F3504F3u);

// Every intermediate of one evaluation, in order.
struct GeluErfSteps {
  float erf_argument = 0;  // x * sqrt(1/2)
  float erf = 0;
  float one_plus_erf = 0;
  float half_x = 0;  // x * 0.5
  float result = 0;  // half_x * one_plus_erf
};

inline GeluErfSteps gelu_erf_steps(float x) {
  GeluErfSteps step;
  step.erf_argument = x * kSquareRootOfHalf;
  step.erf = cuda_erff(step.erf_argument);
  step.one_plus_erf = 1.0f + step.erf;
  step.half_x = x * 0.5f;
  step.result = step.half_x * step.one_plus_erf;
  return step;
}

// Before it is rounded to the dtype. The bits of a NaN are not specified here: the last rounding fixes them.
inline float gelu_erf_fp32(float x, const Profile& profile) {
  if (is_handled_apart(x, profile)) return *profile.gelu_of_negative_infinity;
  return gelu_erf_steps(x).result;
}

}  // namespace bitproof::reference
