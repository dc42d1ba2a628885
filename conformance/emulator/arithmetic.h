// What one lane of a floating-point instruction computes. FP32 operations round once, as asked; every NaN
// result is the canonical one (PTX ISA, "Floating Point Instructions": 0x7FFFFFFF in FP32, 0x7FFF in 16 bits).
//
// Compiled without contraction (cmake/BitproofTargets.cmake), to nearest, without FTZ: the caller asks
// reference::require_environment().
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "reference/half.h"

namespace bitproof::conformance::emulator {

inline constexpr std::uint32_t kCanonicalNan32 = 0x7FFFFFFFu;
inline constexpr std::uint32_t kSignBit = 0x80000000u;

inline float as_float(std::uint32_t bits) { return std::bit_cast<float>(bits); }
inline std::uint32_t canonical(float result) {
  return result != result ? kCanonicalNan32 : std::bit_cast<std::uint32_t>(result);
}

// .FTZ: a subnormal becomes the zero of its sign.
inline std::uint32_t flushed(std::uint32_t bits) { return (bits & 0x7F800000u) == 0 ? bits & kSignBit : bits; }

// By position in the mnemonics' group [.RM|.RP|.RZ].
enum class Rounding : std::uint8_t { nearest, down, up, zero };

// a + b rounded to odd: the exact sum if it is a double, else the one of its two neighbours with an odd
// significand. Rounded again to at most 51 bits in any direction it gives the bits of the exact sum rounded
// once (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
inline double sum_to_odd(double a, double b) {
  const double sum = a + b;
  const double of_b = sum - a;
  const double error = (a - (sum - of_b)) + (b - of_b);  // exact (Knuth's two-sum)
  std::uint64_t bits = std::bit_cast<std::uint64_t>(sum);
  const bool inexact = error < 0 || error > 0;  // not for infinities, whose error is a NaN
  if (inexact && (bits & 1) == 0) bits += (error > 0) == (sum > 0) ? 1u : ~std::uint64_t{0};
  return std::bit_cast<double>(bits);
}

inline float round_to_float(double odd, Rounding rounding) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto nearest = static_cast<float>(odd);
  const bool above = nearest > odd, below = nearest < odd;
  const bool down = rounding == Rounding::down || (rounding == Rounding::zero && odd > 0);
  const bool up = rounding == Rounding::up || (rounding == Rounding::zero && odd < 0);
  if (down && above) return std::nextafter(nearest, -kInfinity);
  if (up && below) return std::nextafter(nearest, kInfinity);
  return nearest;
}

// FP32 operations in the forms that the fast paths do not cover. `flush` is .FTZ: on inputs and on the result.
struct Float32Mode {
  bool flush = false;
  Rounding rounding = Rounding::nearest;
};

inline float start(std::uint32_t bits, Float32Mode mode) { return as_float(mode.flush ? flushed(bits) : bits); }

// Whether a result is tiny as IEEE 754-2019, 7.5 defines it after rounding: below 2^-126 when it is rounded to
// 24 bits as if exponents had no end. 2^-126 - 2^-150 is, though rounding to FP32 makes it 2^-126; 2^-126 -
// 2^-152 is not (probes fmul_rn_ftz and ffma_rn_ftz on an H200).
inline bool is_tiny(double odd, Rounding rounding) {
  if (std::fabs(odd) >= 0x1p-126) return false;
  constexpr double kScale = 0x1p64;  // where FP32 has room
  return std::fabs(round_to_float(odd * kScale, rounding)) < 0x1p-126 * kScale;
}

inline std::uint32_t finish(double odd, Float32Mode mode) {
  if (mode.flush && is_tiny(odd, mode.rounding)) return std::signbit(odd) ? kSignBit : 0;
  return canonical(round_to_float(odd, mode.rounding));
}

// a + b for doubles that are FP32 numbers or products of two of them. An exact zero from different signs is
// negative only when rounding down (IEEE 754-2019, 6.3).
inline std::uint32_t add_rounded(double a, double b, Float32Mode mode) {
  const double sum = sum_to_odd(a, b);
  const bool negative_zero = sum == 0 && mode.rounding == Rounding::down && std::signbit(a) != std::signbit(b);
  return finish(negative_zero ? -0.0 : sum, mode);
}

inline std::uint32_t add32(std::uint32_t a, std::uint32_t b, Float32Mode mode) {
  return add_rounded(start(a, mode), start(b, mode), mode);
}
inline std::uint32_t multiply32(std::uint32_t a, std::uint32_t b, Float32Mode mode) {
  return finish(double{start(a, mode)} * double{start(b, mode)}, mode);  // exact: 48 bits
}
inline std::uint32_t fused_multiply_add32(std::uint32_t a, std::uint32_t b, std::uint32_t c, Float32Mode mode) {
  return add_rounded(double{start(a, mode)} * double{start(b, mode)}, start(c, mode), mode);
}

// 16-bit operations: exact, then one rounding to nearest.
template <reference::Half T>
std::uint32_t add16(std::uint32_t a, std::uint32_t b) {
  // FP32's rounding of the sum is innocuous: 24 >= 2p + 2 (Figueroa, "When is double rounding innocuous?").
  return reference::round_to<T>(reference::widen(T{static_cast<std::uint16_t>(a)}) +
                                reference::widen(T{static_cast<std::uint16_t>(b)}))
      .bits;
}

template <reference::Half T>
std::uint32_t fused_multiply_add16(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  const auto wide = [](std::uint32_t bits) {
    return double{reference::widen(T{static_cast<std::uint16_t>(bits)})};
  };
  const double odd = sum_to_odd(wide(a) * wide(b), wide(c));
  // To odd once more, into FP32, from which reference::round_to rounds to nearest.
  const float truncated = round_to_float(odd, Rounding::zero);
  const std::uint32_t sticky = truncated != odd && odd == odd ? 1u : 0u;
  return reference::round_to<T>(as_float(std::bit_cast<std::uint32_t>(truncated) | sticky)).bits;
}

// An unsigned integer to FP32.
inline float from_unsigned(std::uint64_t value, Rounding rounding) {
  const auto width = static_cast<int>(std::bit_width(value));
  if (width <= 24) return static_cast<float>(value);
  const int dropped = width - 24;
  std::uint64_t kept = value >> dropped;
  const std::uint64_t rest = value & ((std::uint64_t{1} << dropped) - 1);
  const std::uint64_t tie = std::uint64_t{1} << (dropped - 1);
  const bool to_nearest_above = rest > tie || (rest == tie && (kept & 1) != 0);
  if (rounding == Rounding::up ? rest != 0 : rounding == Rounding::nearest && to_nearest_above) ++kept;
  return std::ldexp(static_cast<float>(kept), dropped);
}

// FP32 truncated to an unsigned integer of `width` bits; what is outside becomes the nearest end of the range.
inline std::uint64_t to_unsigned(float value, int width, std::uint64_t of_nan) {
  if (value != value) return of_nan;
  const std::uint64_t largest = width == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << width) - 1;
  if (value <= 0) return 0;
  if (value >= std::ldexp(1.0f, width)) return largest;
  return static_cast<std::uint64_t>(value);
}

}  // namespace bitproof::conformance::emulator
