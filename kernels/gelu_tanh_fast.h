// The tanh form of GELU in ten FP32 operations, exact after rounding to bf16 and to fp16.
//
//   0.5 * x * (1 + tanh(u)),  u = kBeta * (x + kKappa * x^3)
//
// With tanh(|u|) = 1 - 2 / (e^(2|u|) + 1) that is x * (0.5 + copysign(0.5 - 1/(2^m + 1), x)) for
// m = 2 log2(e) |u| = |x| * (a + b x^2).
#pragma once

#include "kernels/primitives.h"

namespace bitproof::kernels {

// One set for both dtypes. a = 2 log2(e) kBeta and b = a kKappa, rounded; the other three are neutral (0, 1, 1)
// but for the few ULPs that make up for the truncation inside ex2 and rcp. Found, and proved on all 65,536
// inputs of both dtypes, by conformance/search/gelu_tanh_search; with the neutral values fp16 is wrong on
// 0x0E55, 0x8E55 and 0xB5A7.
struct GeluTanhCoefficients {
  static constexpr float a = 0x1.26aec2p+1f;
  static constexpr float b = 0x1.a5a7dp-4f;
  static constexpr float offset = -0x1.12p-21f;
  static constexpr float gain = 0x1.000004p+0f;
  static constexpr float scale = 0x1.fffffep-1f;
};

// Every operation is FP32 to nearest, but for the two of the special-function unit.
//
// 0.5 - r is tanh(|u|)/2, rounded as eager rounds 1 - 2r: that quantises the negative tail to eager's multiples
// of 2^-25. The sign of x is put back afterwards, so that the tail is -0 and not +0. -inf gives -inf * 0, a
// NaN; +inf gives +inf * 1.
BITPROOF_KERNEL float gelu_tanh_fast(float x) {
  using C = GeluTanhCoefficients;
  const float slope = fused_multiply_add(C::b, multiply(x, x), C::a);
  const float m = fused_multiply_add(fabsf(x), slope, C::offset);
  const float r = reciprocal_approximate(fused_multiply_add(exp2_approximate(m), C::gain, 1.0f));
  const float half_tanh = copysignf(fused_multiply_add(r, -C::scale, 0.5f), x);
  return multiply(x, add(0.5f, half_tanh));
}

}  // namespace bitproof::kernels
