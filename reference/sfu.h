// The special-function unit of NVIDIA GPUs (the MUFU instructions), exactly: every function returns the bits
// that the hardware returns, for each of the 2^32 bit patterns of its FP32 argument. reference/README.md says
// how each rule was measured, on which card, and what is not claimed.
//
// The unit interpolates quadratically between the segments of a table. One core does that for all functions; a
// function adds its argument reduction, its table and the assembly of the result. The names are those of the
// PTX instructions: `ex2_approx_ftz` is ex2.approx.ftz.f32; a name without `_ftz` is the form that keeps
// subnormals.
//
// This header stands alone and is meant to be inlined in hot loops. The forms with `_ftz` and tanh are pure
// integer arithmetic; the others add FP32 multiplications, as the hardware's instruction sequences do, and so
// need an environment without FTZ and with rounding to nearest (reference/environment.h).
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "reference/sfu_tables.h"  // generated from fixtures/special_function_unit/*.csv

namespace bitproof::reference::sfu {

// The only NaN the unit returns.
inline constexpr std::uint32_t kNan = 0x7FFFFFFFu;
inline constexpr std::uint32_t kInfinity = 0x7F800000u;
inline constexpr std::uint32_t kOne = 0x3F800000u;
inline constexpr std::uint32_t kSign = 0x80000000u;

// An FP32 number taken apart.
struct Fields {
  std::uint32_t sign;      // 0 or kSign
  std::int32_t exponent;   // biased: 0 to 255
  std::uint32_t fraction;  // 23 bits

  constexpr explicit Fields(float value) : Fields(std::bit_cast<std::uint32_t>(value)) {}
  constexpr explicit Fields(std::uint32_t bits)
      : sign(bits & kSign), exponent(static_cast<std::int32_t>(bits >> 23 & 0xFF)), fraction(bits & 0x7FFFFF) {}

  constexpr bool is_nan() const { return exponent == 255 && fraction != 0; }
  constexpr bool is_infinite() const { return exponent == 255 && fraction == 0; }
  constexpr bool is_zero_or_subnormal() const { return exponent == 0; }
};

constexpr float from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

// The square of a 17-bit number as the unit's squarer computes it, in units of 2^19: of the partial products
// x_i * x_j * 2^(i + j) only those with i + j >= 18 exist, and the lowest bit of their sum is dropped. With
// x = high * 2^9 + low, all products inside `high` exist and none inside `low`; of the mixed ones, which occur
// twice, bit i of `high` meets the bits of `low` from 9 - i on.
constexpr std::int64_t truncated_square(std::uint32_t x) {
  const std::uint32_t high = x >> 9;
  const std::uint32_t low = x & 0x1FF;
  std::uint32_t sum = high * high >> 1;
  for (std::uint32_t i = 1; i < 8; ++i) sum += (0u - (high >> i & 1)) & (low >> (9 - i));
  return sum;
}

// The core: C0 * 2^constant_shift + C1 * x + C2 * 2^square_shift * square(x) + rounding_bias, x 17 bits. The
// bias makes the later truncation right on average.
template <std::size_t N>
struct Interpolator {
  const std::array<Segment, N>& segments;
  int constant_shift;
  int square_shift;
  std::int64_t rounding_bias;

  constexpr std::int64_t operator()(std::uint32_t segment, std::uint32_t x) const {
    const Segment& c = segments[segment];
    return (std::int64_t{c.c0} << constant_shift) + std::int64_t{c.c1} * x +
           (std::int64_t{c.c2} * truncated_square(x) << square_shift) + rounding_bias;
  }

  // Most functions split a number of 17 + log2(N) bits: segment above, position within it below.
  constexpr std::int64_t operator()(std::uint32_t argument) const {
    return (*this)(argument >> 17, argument & 0x1FFFF);
  }
};

template <std::size_t N>
Interpolator(const std::array<Segment, N>&, int, int, std::int64_t) -> Interpolator<N>;

inline constexpr Interpolator kEx2{k_ex2_segments, 13, 0, 0x77E2};
inline constexpr Interpolator kRcp{k_rcp_segments, 14, 1, 0x8FCE};
inline constexpr Interpolator kTanh{k_tanh_segments, 15, 0, 0};
inline constexpr Interpolator kRsqrt{k_rsqrt_segments, 14, 2, 0x7FFF};
inline constexpr Interpolator kSqrt{k_sqrt_segments, 15, 1, 0x7FFF};
inline constexpr Interpolator kLg2{k_lg2_segments, 12, 1, 0x3345};
inline constexpr Interpolator kSin{k_sin_segments, 11, 0, 0};

// sign * magnitude * 2^unit, truncated to 24 significant bits; a zero keeps the sign. For results in the normal
// range.
constexpr float truncate_to_float(std::uint32_t sign, std::uint64_t magnitude, int unit) {
  if (magnitude == 0) return from_bits(sign);
  const int leading = 63 - std::countl_zero(magnitude);
  const std::uint64_t significand = leading >= 23 ? magnitude >> (leading - 23) : magnitude << (23 - leading);
  const auto exponent = static_cast<std::uint32_t>(leading + unit + 127);
  return from_bits(sign | exponent << 23 | (static_cast<std::uint32_t>(significand) & 0x7FFFFF));
}

// 2^a.
constexpr float ex2_approx_ftz(float a) {
  const Fields in{a};
  if (in.is_nan()) return from_bits(kNan);
  if (in.exponent >= 127 + 7) return from_bits(in.sign != 0 ? 0 : kInfinity);  // |a| >= 128

  // |a| in fixed point with 23 fraction bits, truncated.
  const std::uint32_t significand = in.fraction | 0x800000;
  const int shift = in.exponent - 127;
  const std::uint32_t fixed = in.is_zero_or_subnormal() || shift < -23 ? 0
                              : shift >= 0                             ? significand << shift
                                                                       : significand >> -shift;
  auto integer = static_cast<std::int32_t>(fixed >> 23);
  std::uint32_t fraction = fixed & 0x7FFFFF;
  if (in.sign != 0) {
    // a = -integer - fraction = (-integer - 1) + (1 - fraction), the latter as one's complement.
    integer = fraction != 0 ? -integer - 1 : -integer;
    fraction = fraction != 0 ? ~fraction & 0x7FFFFF : 0;
  }
  if (integer < -126) return 0.0f;
  const auto result = static_cast<std::uint32_t>(kEx2(fraction) >> 15);
  return from_bits(static_cast<std::uint32_t>(127 + integer) << 23 | (result & 0x7FFFFF));
}

// 1 / a.
constexpr float rcp_approx_ftz(float a) {
  const Fields in{a};
  if (in.is_nan()) return from_bits(kNan);
  if (in.is_infinite()) return from_bits(in.sign);
  if (in.is_zero_or_subnormal()) return from_bits(in.sign | kInfinity);

  // The table has 7 segment bits, so the position has 16 bits and takes the upper 16 of the core's 17.
  const auto significand =
      static_cast<std::int32_t>(kRcp(in.fraction >> 16, (in.fraction & 0xFFFF) << 1) >> 16);
  // 2^24 for a power of two, which carries into the exponent.
  const std::int32_t result = (253 - in.exponent) * (1 << 23) + (significand - (1 << 23));
  return from_bits(in.sign | (result < 1 << 23 ? 0 : static_cast<std::uint32_t>(result)));
}

// A binade of tanh's argument has 2^log2_segments equal segments, which start at first_segment of the table.
struct TanhBinade {
  std::uint32_t log2_segments;
  std::uint32_t first_segment;
};

// Exponents 119 to 129: 2^-8 <= |a| < 8.
inline constexpr int kTanhFirstExponent = 119;
inline constexpr std::array<TanhBinade, 11> kTanhBinades{
    {{0, 0}, {0, 1}, {0, 2}, {1, 3}, {1, 5}, {2, 7}, {2, 11}, {2, 15}, {3, 19}, {4, 27}, {3, 43}}};

// tanh(a). tanh.approx.f32 has no ftz: below 2^-8 it is the identity, for subnormals too.
constexpr float tanh_approx(float a) {
  const Fields in{a};
  if (in.is_nan()) return from_bits(kNan);
  if (in.exponent < kTanhFirstExponent) return a;
  if (in.exponent >= 127 + 3) return from_bits(in.sign | kOne);  // |a| >= 8

  const TanhBinade binade = kTanhBinades[static_cast<std::size_t>(in.exponent - kTanhFirstExponent)];
  const std::uint32_t segment = binade.first_segment + (in.fraction >> (23 - binade.log2_segments));
  const std::uint32_t x = in.fraction >> (6 - binade.log2_segments) & 0x1FFFF;
  return truncate_to_float(in.sign, static_cast<std::uint64_t>(kTanh(segment, x)), -39);
}

// The argument of the roots, a = 4^half_exponent * m with 1 <= m < 4: the odd bit of the exponent selects the
// half of the table.
struct RootArgument {
  std::int32_t half_exponent;
  std::uint32_t reduced;  // 24 bits: m < 2 or not, then the fraction

  constexpr explicit RootArgument(Fields in)
      : half_exponent((in.exponent - 127) >> 1),
        reduced(in.fraction | static_cast<std::uint32_t>((in.exponent - 127) & 1) << 23) {}
};

// 1 / sqrt(a).
constexpr float rsqrt_approx_ftz(float a) {
  const Fields in{a};
  if (in.is_nan()) return from_bits(kNan);
  if (in.is_zero_or_subnormal()) return from_bits(in.sign | kInfinity);
  if (in.sign != 0) return from_bits(kNan);
  if (in.is_infinite()) return 0.0f;

  const RootArgument root{in};
  if (root.reduced == 0) return from_bits(static_cast<std::uint32_t>(127 - root.half_exponent) << 23);
  const auto significand = static_cast<std::uint32_t>(kRsqrt(root.reduced) >> 16);
  return from_bits(static_cast<std::uint32_t>(126 - root.half_exponent) << 23 | (significand & 0x7FFFFF));
}

// sqrt(a): a table of its own, not a * rsqrt(a).
constexpr float sqrt_approx_ftz(float a) {
  const Fields in{a};
  if (in.is_nan()) return from_bits(kNan);
  if (in.is_zero_or_subnormal()) return from_bits(in.sign);
  if (in.sign != 0) return from_bits(kNan);
  if (in.is_infinite()) return a;

  const RootArgument root{in};
  const auto significand = static_cast<std::uint32_t>(kSqrt(root.reduced) >> 17);
  return from_bits(static_cast<std::uint32_t>(127 + root.half_exponent) << 23 | (significand & 0x7FFFFF));
}

// log2(a).
constexpr float lg2_approx_ftz(float a) {
  const Fields in{a};
  if (in.is_nan()) return from_bits(kNan);
  if (in.is_zero_or_subnormal()) return from_bits(kSign | kInfinity);
  if (in.sign != 0) return from_bits(kNan);
  if (in.is_infinite()) return a;
  if (in.exponent == 127 && in.fraction == 0) return 0.0f;

  // Units of 2^-36. A negative sum is negated by one's complement.
  const std::int64_t sum = (kLg2(in.fraction) >> 2) + std::int64_t{in.exponent - 127} * (std::int64_t{1} << 36);
  return truncate_to_float(sum < 0 ? kSign : 0, static_cast<std::uint64_t>(sum < 0 ? ~sum : sum), -36);
}

// |a| / (2*pi) modulo 1 in units of 2^-25. The hardware multiplies by FP32's 1/(2*pi) first and truncates the
// product to FP32, then to the fixed point.
constexpr std::uint32_t fraction_of_turn(Fields in) {
  constexpr Fields kInverseTwoPi{0x3E22F983u};
  if (in.is_zero_or_subnormal()) return 0;
  // 2^46 <= product < 2^48, in units of 2^(exponents - 300).
  const std::uint64_t product = (std::uint64_t{in.fraction} | 0x800000) * (kInverseTwoPi.fraction | 0x800000);
  const int carry = static_cast<int>(product >> 47);
  const std::uint64_t significand = product >> (23 + carry);  // 24 bits
  const int shift = in.exponent + kInverseTwoPi.exponent - 300 + 23 + carry + 25;
  if (shift >= 25 || shift <= -24) return 0;  // an integer number of turns, or less than one unit
  const std::uint64_t units = shift >= 0 ? significand << shift : significand >> -shift;
  return static_cast<std::uint32_t>(units) & 0x1FFFFFF;
}

// The sine of quadrants/4 of a turn plus `fraction` units of 2^-25 turns, negated if sign is kSign.
constexpr float sine_of_turn(std::uint32_t sign, std::uint32_t quadrant, std::uint32_t fraction) {
  if (quadrant & 1) fraction = ~fraction & 0x7FFFFF;
  if (quadrant & 2) sign ^= kSign;
  return truncate_to_float(sign, static_cast<std::uint64_t>(kSin(fraction)), -37);
}

// sin(a), a in radians.
constexpr float sin_approx_ftz(float a) {
  const Fields in{a};
  if (in.exponent == 255) return from_bits(kNan);
  const std::uint32_t turn = fraction_of_turn(in);
  return sine_of_turn(in.sign, turn >> 23, turn & 0x7FFFFF);
}

// cos(a), a in radians: the sine a quarter of a turn later.
constexpr float cos_approx_ftz(float a) {
  const Fields in{a};
  if (in.exponent == 255) return from_bits(kNan);
  const std::uint32_t turn = fraction_of_turn(in);
  return sine_of_turn(0, (turn >> 23) + 1, turn & 0x7FFFFF);
}

// The forms without ftz. The unit itself flushes; the compiler scales an argument it would flush by a power of
// two and the result back, with FP32 multiplications. NaNs come out of those unchanged, since the unit's NaN is
// a quiet one.

// |a| < 2^-126.
constexpr bool is_tiny(float a) { return Fields{a}.is_zero_or_subnormal(); }

constexpr float ex2_approx(float a) {
  if (!(a < -126.0f)) return ex2_approx_ftz(a);
  const float root = ex2_approx_ftz(a * 0.5f);
  return root * root;
}

constexpr float rcp_approx(float a) {
  if (is_tiny(a)) return rcp_approx_ftz(a * 0x1p24f) * 0x1p24f;
  if (a > 0x1p126f || a < -0x1p126f) return rcp_approx_ftz(a * 0.25f) * 0.25f;
  return rcp_approx_ftz(a);
}

constexpr float rsqrt_approx(float a) {
  return is_tiny(a) ? rsqrt_approx_ftz(a * 0x1p24f) * 0x1p12f : rsqrt_approx_ftz(a);
}

constexpr float sqrt_approx(float a) {
  return is_tiny(a) ? sqrt_approx_ftz(a * 0x1p24f) * 0x1p-12f : sqrt_approx_ftz(a);
}

constexpr float lg2_approx(float a) {
  return is_tiny(a) ? lg2_approx_ftz(a * 0x1p24f) - 24.0f : lg2_approx_ftz(a);
}

constexpr float sin_approx(float a) { return sin_approx_ftz(a); }
constexpr float cos_approx(float a) { return cos_approx_ftz(a); }

}  // namespace bitproof::reference::sfu
