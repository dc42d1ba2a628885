// The two small formats of NVFP4: E2M1 values and E4M3 block scales, and the product of the two.
//
// Sources: OCP 8-bit Floating Point Specification 1.0 (E4M3: bias 7, no infinities, NaN at 0x7F and 0xFF), OCP
// Microscaling Formats Specification 1.0 (E2M1: bias 1, neither infinities nor NaNs). Compared with ml_dtypes'
// tables in fixtures/nvfp4.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "reference/half.h"

namespace bitproof::reference {

// The lower four bits: 1 sign, 2 exponent and 1 fraction bit. 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
struct E2m1 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(E2m1, E2m1) = default;
};

// 1 sign, 4 exponent and 3 fraction bits. 2^-9 is the smallest positive number, 448 the largest.
struct E4m3 {
  std::uint8_t bits = 0;
  friend constexpr bool operator==(E4m3, E4m3) = default;
};

inline constexpr E2m1 kLargestE2m1{0x7};   // 6
inline constexpr E4m3 kLargestE4m3{0x7E};  // 448

// Exactly.
constexpr float widen(E2m1 value) {
  constexpr float kMagnitudes[]{0.0f, 0.5f, 1.0f, 1.5f, 2.0f, 3.0f, 4.0f, 6.0f};
  const float magnitude = kMagnitudes[value.bits & 0x7];
  return (value.bits & 0x8) != 0 ? -magnitude : magnitude;
}

constexpr bool is_nan(E4m3 value) { return (value.bits & 0x7F) == 0x7F; }

// Exactly; a NaN gives a NaN.
constexpr float widen(E4m3 value) {
  if (is_nan(value)) return std::numeric_limits<float>::quiet_NaN();
  const int exponent = value.bits >> 3 & 0xF, fraction = value.bits & 0x7;
  float magnitude = static_cast<float>(exponent == 0 ? fraction : 8 + fraction) * 0x1p-9f;
  for (int i = 1; i < exponent; ++i) magnitude *= 2;
  return (value.bits & 0x80) != 0 ? -magnitude : magnitude;
}

// Whether the code may be a block's scale: a number without a sign. 127 of the 256 may.
constexpr bool is_scale(E4m3 value) { return value.bits <= kLargestE4m3.bits; }

// To the nearest, ties to the even code, saturating at 6; the sign is kept, of zeros too. A NaN gives +6: the
// format has none, and this is what `cvt.rn.satfinite.e2m1x2.f32` makes of it (PTX ISA, "cvt").
inline E2m1 round_to_e2m1(float value) {
  if (std::isnan(value)) return kLargestE2m1;
  const double magnitude = std::fabs(static_cast<double>(value));
  std::uint8_t nearest = 0;
  for (std::uint8_t code = 1; code <= kLargestE2m1.bits; ++code) {
    const double above = widen(E2m1{code}) - magnitude, below = magnitude - widen(E2m1{nearest});
    if (above < below || (above == below && code % 2 == 0)) nearest = code;
  }
  return {static_cast<std::uint8_t>(nearest | (std::signbit(value) ? 0x8 : 0))};
}

// The values of all scales, ascending.
inline constexpr auto kScaleValues = [] {
  std::array<float, kLargestE4m3.bits + 1> values{};
  for (std::size_t code = 0; code < values.size(); ++code)
    values[code] = widen(E4m3{static_cast<std::uint8_t>(code)});
  return values;
}();

// A non-negative number to the nearest scale, ties to the even code, saturating at 448.
inline E4m3 round_to_scale(float value) {
  const auto above = std::ranges::lower_bound(kScaleValues, value);
  if (above == kScaleValues.end()) return kLargestE4m3;
  const auto code = static_cast<std::uint8_t>(above - kScaleValues.begin());
  if (code == 0) return {0};
  const double up = static_cast<double>(*above) - value, down = static_cast<double>(value) - *(above - 1);
  const bool upwards = up < down || (up == down && code % 2 == 0);
  return {static_cast<std::uint8_t>(upwards ? code : code - 1)};
}

// value * scale. Exact in both formats: at most 2 + 4 significant bits, and a magnitude of 0 or from 2^-10 to
// 2688, which are normal numbers of bf16 and of fp16. All 16 x 127 are enumerated in the tests.
template <Half T>
T product(E2m1 value, E4m3 scale) {
  return round_to<T>(widen(value) * widen(scale));
}

}  // namespace bitproof::reference
