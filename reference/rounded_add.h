// The rounded add of two 16-bit numbers, in two ways that owe each other nothing, and over arrays.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>

#include "reference/half.h"

namespace bitproof::reference {

// By way of FP32, as the GPU does: the sum is rounded to FP32 and then to T, every NaN becomes 0x7FFF.
template <Half T>
constexpr T add_rounded(T a, T b) {
  return round_to<T>(widen(a) + widen(b));
}

// By integer arithmetic alone: align, add exactly, round once. Where it agrees with add_rounded, rounding twice
// did no harm (as it must not: FP32's 24 bits are at least 2p + 2 for p = 11 and p = 8; Figueroa, "When is
// double rounding innocuous?", 1995). Free of branches, so that a loop over it is vectorised by the compiler.
template <Half T>
[[gnu::always_inline]] constexpr T add_rounded_integer(T a, T b) {
  constexpr int kHidden = 1 << T::kFractionBits;
  constexpr int kInfinity = kPositiveInfinity<T>.bits;
  constexpr int kGuardBits = 3;                                 // guard, round and sticky bit
  constexpr int kCarryBit = T::kFractionBits + kGuardBits + 1;  // the highest bit a sum can have
  constexpr int kDropped = kGuardBits + 1;                      // bits below T's when that bit is set

  const int a_magnitude = magnitude_bits(a);
  const int b_magnitude = magnitude_bits(b);
  const int large = std::max(a_magnitude, b_magnitude);
  const int small = std::min(a_magnitude, b_magnitude);
  const int sign = (a_magnitude >= b_magnitude ? a.bits : b.bits) & 0x8000;
  const bool subtract = ((a.bits ^ b.bits) & 0x8000) != 0;

  // Subnormals have the exponent of the smallest normal numbers, 1, and no hidden bit.
  const int large_exponent = std::max(large >> T::kFractionBits, 1);
  const int small_exponent = std::max(small >> T::kFractionBits, 1);
  const int large_significand = large - (large_exponent - 1) * kHidden;
  const int small_significand = small - (small_exponent - 1) * kHidden;

  // Bits that alignment shifts out are remembered in the lowest bit.
  const int distance = std::min(large_exponent - small_exponent, kCarryBit + 1);
  const int guarded = small_significand << kGuardBits;
  const int aligned = guarded >> distance;
  const int addend = aligned | (aligned << distance != guarded ? 1 : 0);
  const int augend = large_significand << kGuardBits;
  const int sum = subtract ? augend - addend : augend + addend;

  // Move the leading bit to kCarryBit, but not below the exponent of subnormals.
  int leading_zeros = 0;
  for (int bit = 3; bit >= 0; --bit) {
    const int step = 1 << bit;
    leading_zeros += sum << leading_zeros < 2 << (kCarryBit - step) ? step : 0;
  }
  const int shift = std::min(leading_zeros, large_exponent);
  const int normalised = sum << shift;
  const int odd = normalised >> kDropped & 1;
  const int rounded = (normalised + (1 << (kDropped - 1)) - 1 + odd) >> kDropped;
  // The hidden bit, where there is one, and a carry of the rounding add to the exponent.
  const int finite = std::min((large_exponent - shift) * kHidden + rounded, kInfinity);

  const int number = sum == 0 ? (subtract ? 0 : sign) : sign | finite;  // x - x is +0
  const bool invalid = large > kInfinity || (small == kInfinity && subtract);
  const int special = invalid ? kCanonicalNan<T>.bits : sign | kInfinity;
  return T{static_cast<std::uint16_t>(large >= kInfinity ? special : number)};
}

// Array forms, vectorised, on the calling thread. out[i] is the sum of `a` or a[i] and b[i]; the spans have one
// length, and `out` may be `a` or `b` itself.
template <Half T>
void add_rounded(std::span<const T> a, std::span<const T> b, std::span<T> out);
template <Half T>
void add_rounded(T a, std::span<const T> b, std::span<T> out);
template <Half T>
void add_rounded_integer(T a, std::span<const T> b, std::span<T> out);

}  // namespace bitproof::reference
