// tanhf of CUDA's math library as nvcc 13.0 compiles it; the instructions are the same for sm_75 to sm_121.
// Read from the machine code, and compared with an H200 through GELU: fixtures/oracles.
#pragma once

#include <cmath>

#include "reference/half.h"
#include "reference/sfu.h"

namespace bitproof::reference {

// Below this magnitude (0.6) tanh is a polynomial, from it on it is 1 - 2 / (e^(2a) + 1).
inline constexpr float kTanhPolynomialLimit = float_from_bits(0x3F19999Au);
// From this magnitude (9.01) on it is 1.
inline constexpr float kTanhSaturation = float_from_bits(0x41102CB4u);
// 2 * log2(e).
inline constexpr float kTwoLog2E = float_from_bits(0x4038AA3Bu);

// Every intermediate of one evaluation, in order. Which of the two groups was used is said by
// `uses_polynomial`.
struct CudaTanhSteps {
  bool uses_polynomial = false;

  float magnitude = 0;      // |a|
  float ex2_argument = 0;   // |a| * 2*log2(e)
  float ex2 = 0;            // from the special-function unit
  float denominator = 0;    // ex2 + 1
  float rcp = 0;            // from the special-function unit
  float unsigned_tanh = 0;  // 1 - 2*rcp, or 1 when saturated

  float square = 0;      // a^2
  float polynomial = 0;  // (tanh(a) - a) / a

  float result = 0;
};

inline CudaTanhSteps cuda_tanh_steps(float a) {
  CudaTanhSteps step;
  step.magnitude = std::fabs(a);
  step.uses_polynomial = !(step.magnitude >= kTanhPolynomialLimit);  // a NaN takes the polynomial
  if (step.uses_polynomial) {
    step.square = a * a;
    float p = std::fma(float_from_bits(0x3C80F082u), step.square, float_from_bits(0xBD563CAEu));
    p = std::fma(p, step.square, float_from_bits(0x3E085941u));
    p = std::fma(p, step.square, float_from_bits(0xBEAAA9EDu));
    step.polynomial = std::fma(p, step.square, 0.0f);
    step.result = std::fma(step.polynomial, a, a);
  } else {
    step.ex2_argument = step.magnitude * kTwoLog2E;
    step.ex2 = sfu::ex2_approx_ftz(step.ex2_argument);
    step.denominator = step.ex2 + 1.0f;
    step.rcp = sfu::rcp_approx_ftz(step.denominator);
    step.unsigned_tanh = step.magnitude >= kTanhSaturation ? 1.0f : std::fma(step.rcp, -2.0f, 1.0f);
    step.result = std::copysign(step.unsigned_tanh, a);
  }
  return step;
}

inline float cuda_tanhf(float a) { return cuda_tanh_steps(a).result; }

}  // namespace bitproof::reference
