// The rule of a tensor-core step once more, in other terms than reference/linear/tensor_core.cpp: on numbers in
// place of significands and shifts. Binary64 holds every factor, product, scaled term and sum of a step
// exactly, so that nothing here rounds but the two truncations that the rule asks for.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <span>

#include "reference/half.h"

namespace bitproof::conformance {

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

// Up to 16 products.
template <reference::Half T>
float exact_step(std::span<const T> a, std::span<const T> b, float c) {
  constexpr int kLeastExponent = T::kDtype == reference::Dtype::bf16 ? -126 : -14;
  constexpr int kNone = -1000;
  std::array<double, 17> terms{static_cast<double>(c)};
  std::size_t count = 1;
  int largest = c == 0 || !std::isfinite(c) ? kNone : exponent_of(static_cast<double>(c), -126);
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto x = static_cast<double>(reference::widen(a[i]));
    const auto y = static_cast<double>(reference::widen(b[i]));
    const double product = terms[count++] = x * y;
    if (std::isfinite(product) && product != 0)
      largest = std::max(largest, exponent_of(x, kLeastExponent) + exponent_of(y, kLeastExponent));
  }

  // IEEE arithmetic has the rule's infinities and NaNs, except for the bits of a NaN.
  double special = 0;
  for (std::size_t i = 0; i < count; ++i) special += std::isfinite(terms[i]) ? 0 : terms[i];
  if (std::isnan(special)) return reference::float_from_bits(0x7FFFFFFFu);
  if (std::isinf(special)) return static_cast<float>(special);

  const int alignment = std::max(largest, -133);
  std::int64_t units = 0;
  for (std::size_t i = 0; i < count; ++i)
    units += static_cast<std::int64_t>(std::trunc(std::ldexp(terms[i], 25 - alignment)));
  return toward_zero_to_fp32(std::ldexp(static_cast<double>(units), alignment - 25));
}

// Nearest, ties to even; every NaN is 0x7FFF.
template <reference::Half T>
T nearest(double value) {
  constexpr int kLeastExponent = T::kDtype == reference::Dtype::bf16 ? -126 : -14;
  constexpr auto kInfinity = static_cast<std::uint16_t>(((1 << T::kExponentBits) - 1) << T::kFractionBits);
  if (std::isnan(value)) return T{0x7FFF};
  const auto sign = static_cast<std::uint16_t>(std::signbit(value) ? 0x8000 : 0);
  if (value == 0) return T{sign};
  if (std::isinf(value)) return T{static_cast<std::uint16_t>(sign | kInfinity)};
  const int exponent = exponent_of(value, kLeastExponent);
  // In units of the last place. The hidden bit of a normal number, and a carry out of the fraction, raise the
  // exponent field.
  const double units = std::nearbyint(std::ldexp(std::abs(value), T::kFractionBits - exponent));
  const std::int64_t bits =
      (std::int64_t{exponent - kLeastExponent} << T::kFractionBits) + static_cast<std::int64_t>(units);
  return T{static_cast<std::uint16_t>(sign | std::min<std::int64_t>(bits, kInfinity))};
}

}  // namespace bitproof::conformance
