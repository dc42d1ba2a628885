// erff of CUDA's math library as nvcc 13.0 compiles it for sm_90, read from the PTX, and compared with an H200
// through GELU: fixtures/oracles.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "reference/half.h"
#include "reference/sfu.h"

namespace bitproof::reference {

// From this magnitude (1.00296) on erf is 1 - 2^p(|a|), below it is a + a*p(a^2); both p are polynomials.
inline constexpr float kErfExponentialLimit = float_from_bits(0x3F8060FEu);

// Coefficients of p from the highest power down to the constant.
inline constexpr std::array<float, 7> kErfNearCoefficients{
    float_from_bits(0x38B1E96Au), float_from_bits(0xBA574D20u), float_from_bits(0x3BAAD5EAu),
    float_from_bits(0xBCDC1BE7u), float_from_bits(0x3DE718AFu), float_from_bits(0xBEC093ACu),
    float_from_bits(0x3E0375D3u)};
inline constexpr std::array<float, 7> kErfFarCoefficients{
    float_from_bits(0x38EB4C3Au), float_from_bits(0xBAAE005Bu), float_from_bits(0x3C09919Fu),
    float_from_bits(0xBD24D99Au), float_from_bits(0x3E235519u), float_from_bits(0x3F69B4F9u),
    float_from_bits(0x3F210A14u)};

// Every intermediate of one evaluation, in order.
struct CudaErfSteps {
  bool uses_exponential = false;

  float magnitude = 0;   // |a|
  float argument = 0;    // of the polynomial: |a| far from zero, a^2 near it
  float polynomial = 0;  // Horner's scheme, 6 FMAs
  float scaled = 0;      // polynomial*s + s, one FMA: s is -|a| far from zero, a near it
  float ex2 = 0;         // from the special-function unit, of `scaled`; only far from zero

  float result = 0;
};

inline CudaErfSteps cuda_erf_steps(float a) {
  CudaErfSteps step;
  step.magnitude = std::fabs(a);
  step.uses_exponential = step.magnitude >= kErfExponentialLimit;  // a NaN takes the other branch
  const auto& coefficients = step.uses_exponential ? kErfFarCoefficients : kErfNearCoefficients;
  step.argument = step.uses_exponential ? step.magnitude : a * a;
  step.polynomial = coefficients[0];
  for (std::size_t i = 1; i < coefficients.size(); ++i)
    step.polynomial = std::fma(step.polynomial, step.argument, coefficients[i]);
  const float scale = step.uses_exponential ? -step.magnitude : a;
  step.scaled = std::fma(step.polynomial, scale, scale);
  if (!step.uses_exponential) {
    step.result = step.scaled;
    return step;
  }
  step.ex2 = sfu::ex2_approx_ftz(step.scaled);
  step.result = std::copysign(1.0f - step.ex2, a);
  return step;
}

inline float cuda_erff(float a) { return cuda_erf_steps(a).result; }

}  // namespace bitproof::reference
