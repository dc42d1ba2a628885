// The rule of a tensor-core step once more, in other terms than reference/linear/tensor_core.cpp: on numbers in
// place of significands and shifts. Binary64 holds every factor, product, scaled term and sum of a step
// exactly, so that nothing here rounds but the two truncations that the rule asks for.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "reference/half.h"

namespace bitproof::reference::test {

// floor(log2 |value|), but that of the least normal number for a subnormal.
inline int exponent_of(double value, int least_exponent) { return std::max(std::ilogb(value), least_exponent); }

// The largest multiple of the FP32 unit of `value` that is not above it in magnitude.
inline float toward_zero_to_fp32(double value) {
  if (value == 0) return 0.0f;
  const double unit = std::ldexp(1.0, exponent_of(value, -126) - 23);
  const double cut = std::trunc(value / unit) * unit;
  if (std::abs(cut) >= std::ldexp(1.0, 128)) return cut < 0 ? -INFINITY : INFINITY;
  return cut == 0 ? 0.0f : static_cast<float>(cut);
}

template <Half T>
float exact_step(std::span<const T> a, std::span<const T> b, float c) {
  constexpr int kLeastExponent = T::kDtype == Dtype::bf16 ? -126 : -14;
  constexpr int kNone = -1000;
  std::vector<double> terms{static_cast<double>(c)};
  int largest = c == 0 || !std::isfinite(c) ? kNone : exponent_of(static_cast<double>(c), -126);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(widen(a[i]));
    const auto y = static_cast<double>(widen(b[i]));
    terms.push_back(x * y);
    if (std::isfinite(x * y) && x * y != 0)
      largest = std::max(largest, exponent_of(x, kLeastExponent) + exponent_of(y, kLeastExponent));
  }

  // IEEE arithmetic has the rule's infinities and NaNs, except for the bits of a NaN.
  double special = 0;
  for (const double term : terms) special += std::isfinite(term) ? 0 : term;
  if (std::isnan(special)) return float_from_bits(0x7FFFFFFFu);
  if (std::isinf(special)) return static_cast<float>(special);

  const int alignment = std::max(largest, -133);
  std::int64_t units = 0;
  for (const double term : terms)
    units += static_cast<std::int64_t>(std::trunc(std::ldexp(term, 25 - alignment)));
  return toward_zero_to_fp32(std::ldexp(static_cast<double>(units), alignment - 25));
}

}  // namespace bitproof::reference::test
