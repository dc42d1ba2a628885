// expf of CUDA's math library as nvcc 13.0 compiles it for sm_90, read from the PTX, and compared with an H200
// through SiLU: fixtures/oracles.
#pragma once

#include <cmath>

#include "reference/half.h"
#include "reference/sfu.h"

namespace bitproof::reference {

// e^a = 2^n * 2^(a*log2(e) - n): n is an integer between -126 and 126, so that 2^n is a normal number, and the
// second factor is what the special-function unit gives.
struct CudaExpSteps {
  float saturated = 0;     // a*log2(e)/252 + 1/2, held between 0 and 1
  float exponent = 0;      // n = floor(252 * saturated) - 126
  float remainder = 0;     // a*log2(e) - n, two FMAs
  float ex2 = 0;           // from the special-function unit
  float power_of_two = 0;  // 2^n

  float result = 0;  // ex2 * power_of_two
};

inline CudaExpSteps cuda_exp_steps(float a) {
  CudaExpSteps step;
  const float centred = std::fma(a, float_from_bits(0x3BBB989Du), 0.5f);
  step.saturated = centred >= 1.0f ? 1.0f : (centred > 0.0f ? centred : 0.0f);  // cvt.sat: a NaN gives +0
  // fma.rm of a 24-bit number and 252 onto 1.5 * 2^23 + 1: exact in double, then rounded down to an integer.
  step.exponent = static_cast<float>(std::floor(double{step.saturated} * 252.0)) - 126.0f;
  step.remainder = std::fma(a, float_from_bits(0x3FB8AA3Bu), -step.exponent);
  step.remainder = std::fma(a, float_from_bits(0x32A57060u), step.remainder);
  step.ex2 = sfu::ex2_approx_ftz(step.remainder);
  step.power_of_two = std::ldexp(1.0f, static_cast<int>(step.exponent));
  step.result = step.ex2 * step.power_of_two;
  return step;
}

inline float cuda_expf(float a) { return cuda_exp_steps(a).result; }

}  // namespace bitproof::reference
