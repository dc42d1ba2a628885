// The tanh form of GELU in FP32, as PyTorch's CUDA kernel evaluates it:
//
//     gelu(x) = 0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x^3)))
//
// Source: aten/src/ATen/native/cuda/ActivationGeluKernel.cu, GeluCUDAKernelImpl; nvcc 13.0 contracts the inner
// sum into one FMA and nothing else. Compared before the last rounding with
// fixtures/oracles/gelu_tanh_fp32_from_*.bin.
#pragma once

#include <cmath>

#include "reference/half.h"
#include "reference/profile.h"
#include "reference/sfu.h"
#include "reference/tanhf.h"

namespace bitproof::reference {

inline constexpr float kGeluBeta = float_from_bits(0x3F4C422Au);   // sqrt(2/pi), 0.797884583
inline constexpr float kGeluKappa = float_from_bits(0x3D372713u);  // 0.044715

// Every intermediate of one evaluation, in order.
struct GeluTanhSteps {
  float square = 0;         // x*x
  float cube = 0;           // (x*x)*x
  float inner = 0;          // x + kappa*cube, one FMA
  float tanh_argument = 0;  // beta*inner
  float tanh = 0;
  float one_plus_tanh = 0;
  float half_x = 0;  // 0.5*x
  float result = 0;  // half_x * one_plus_tanh
};

// `tanh` is any float(float): the formula's shape does not depend on which tanh it is built on.
template <class TanhFunction>
GeluTanhSteps gelu_tanh_steps(float x, TanhFunction&& tanh) {
  GeluTanhSteps step;
  step.square = x * x;
  step.cube = step.square * x;
  step.inner = std::fma(kGeluKappa, step.cube, x);
  step.tanh_argument = kGeluBeta * step.inner;
  step.tanh = tanh(step.tanh_argument);
  step.one_plus_tanh = 1.0f + step.tanh;
  step.half_x = 0.5f * x;
  step.result = step.half_x * step.one_plus_tanh;
  return step;
}

// The profile's tanh.
inline float tanh_fp32(float a, const Profile& profile) {
  switch (profile.tanh) {
    case Tanh::cuda_tanhf:
      return cuda_tanhf(a);
    case Tanh::tanh_approx:
      return sfu::tanh_approx(a);
  }
  return a;
}

// Whether the profile names the result instead of leaving it to the formula.
inline bool is_handled_apart(float x, const Profile& profile) {
  return profile.gelu_of_negative_infinity.has_value() && float_bits(x) == 0xFF800000u;
}

// GELU before it is rounded to the dtype. The bits of a NaN are not specified here: the last rounding fixes
// them.
inline float gelu_tanh_fp32(float x, const Profile& profile) {
  if (is_handled_apart(x, profile)) return *profile.gelu_of_negative_infinity;
  return gelu_tanh_steps(x, [&profile](float a) { return tanh_fp32(a, profile); }).result;
}

}  // namespace bitproof::reference
