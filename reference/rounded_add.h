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
  constexpr int kFractionBits = T::kFractionBits;
  constexpr std::uint32_t kHidden = 1u << kFractionBits;
  constexpr std::uint32_t kInfinity = kPositiveInfinity<T>.bits;
  constexpr int kGuardBits = 3;                              // guard, round and sticky bit
  constexpr int kCarryBit = kFractionBits + kGuardBits + 1;  // highest bit a sum can have
  constexpr int kDropped = kGuardBits + 1;                   // bits below T's when that bit is set

  const std::uint32_t a_magnitude = a.bits & 0x7FFFu;
  const std::uint32_t b_magnitude = b.bits & 0x7FFFu;
  const std::uint32_t large = std::max(a_magnitude, b_magnitude);
  const std::uint32_t small = std::min(a_magnitude, b_magnitude);
  const std::uint32_t sign = (a_magnitude >= b_magnitude ? a.bits : b.bits) & 0x8000u;
  const bool subtract = ((a.bits ^ b.bits) & 0x8000u) != 0;

  // value = significand * 2^exponent in units of the smallest subnormal's half: exponents start at 1.
  const std::uint32_t large_exponent = std::max(large >> kFractionBits, 1u);
  const std::uint32_t small_exponent = std::max(small >> kFractionBits, 1u);
  const std::uint32_t large_significand = large < kHidden ? large : (large & (kHidden - 1)) | kHidden;
  const std::uint32_t small_significand = small < kHidden ? small : (small & (kHidden - 1)) | kHidden;

  // Bits that alignment shifts out are remembered in the lowest bit.
  const std::uint32_t distance = std::min(large_exponent - small_exponent, 31u);
  const std::uint32_t aligned = small_significand << kGuardBits >> distance;
  const std::uint32_t lost = (small_significand << kGuardBits) - (aligned << distance);
  const std::uint32_t addend = aligned | (lost != 0 ? 1u : 0u);
  const std::uint32_t augend = large_significand << kGuardBits;
  const std::uint32_t sum = subtract ? augend - addend : augend + addend;

  // Move the leading bit to kCarryBit, but not below the exponent of subnormals.
  std::uint32_t leading_zeros = 0;
  for (int bit = 1; bit <= kCarryBit; ++bit) leading_zeros += sum < (1u << bit) ? 1u : 0u;
  const std::uint32_t shift = std::min(leading_zeros, large_exponent);
  const std::uint32_t normalised = sum << shift;
  const std::uint32_t rounded =
      (normalised + (1u << (kDropped - 1)) - 1 + (normalised >> kDropped & 1)) >> kDropped;
  // The hidden bit, where there is one, and a carry of the rounding add to the exponent.
  const std::uint32_t finite = std::min(((large_exponent - shift) << kFractionBits) + rounded, kInfinity);

  const std::uint32_t zero_sign = subtract ? 0u : sign;  // x - x is +0
  const std::uint32_t number = sum == 0 ? zero_sign : sign | finite;
  const bool invalid = large > kInfinity || (small == kInfinity && subtract);
  const std::uint32_t special = invalid ? kCanonicalNan<T>.bits : sign | kInfinity;
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
