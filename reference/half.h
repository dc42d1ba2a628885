// The two 16-bit floating-point formats: conversion to and from FP32, neighbours, ULP distance, classification.
//
// Everything here is integer arithmetic on bits, so that it is constexpr and does not depend on the rounding
// mode, on flushing of subnormals, or on how the host treats NaN payloads.
#pragma once

#include <bit>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

namespace bitproof::reference {

enum class Dtype { bf16, fp16 };

constexpr std::string_view name(Dtype dtype) { return dtype == Dtype::bf16 ? "bf16" : "fp16"; }

constexpr std::optional<Dtype> parse_dtype(std::string_view text) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
    if (text == name(dtype)) return dtype;
  }
  return std::nullopt;
}

// bfloat16: the upper half of an FP32 number, 1 sign, 8 exponent and 7 fraction bits.
struct Bf16 {
  static constexpr Dtype kDtype = Dtype::bf16;
  static constexpr int kExponentBits = 8;
  static constexpr int kFractionBits = 7;

  std::uint16_t bits = 0;

  // Identity of bits and not equality of numbers: +0 differs from -0, and a NaN equals itself.
  friend constexpr bool operator==(Bf16, Bf16) = default;
};

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
struct Fp16 {
  static constexpr Dtype kDtype = Dtype::fp16;
  static constexpr int kExponentBits = 5;
  static constexpr int kFractionBits = 10;

  std::uint16_t bits = 0;

  // Identity of bits and not equality of numbers: +0 differs from -0, and a NaN equals itself.
  friend constexpr bool operator==(Fp16, Fp16) = default;
};

template <class T>
concept Half = std::same_as<T, Bf16> || std::same_as<T, Fp16>;

// Calls `function.template operator()<T>()` with the type of `dtype` and returns what it returns.
template <class Function>
constexpr decltype(auto) visit_dtype(Dtype dtype, Function&& function) {
  if (dtype == Dtype::bf16) return std::forward<Function>(function).template operator()<Bf16>();
  return std::forward<Function>(function).template operator()<Fp16>();
}

// The bits of an array, in place.
template <Half T>
std::span<const std::uint16_t> as_bits(std::span<const T> values) {
  static_assert(sizeof(T) == sizeof(std::uint16_t));
  return {reinterpret_cast<const std::uint16_t*>(values.data()), values.size()};
}

constexpr std::uint32_t float_bits(float value) { return std::bit_cast<std::uint32_t>(value); }
constexpr float float_from_bits(std::uint32_t bits) { return std::bit_cast<float>(bits); }

constexpr bool is_nan_bits(std::uint32_t fp32_bits) { return (fp32_bits & 0x7FFFFFFFu) > 0x7F800000u; }

template <Half T>
inline constexpr T kPositiveInfinity{
    static_cast<std::uint16_t>(0x7FFF >> T::kFractionBits << T::kFractionBits)};

template <Half T>
inline constexpr T kNegativeInfinity{static_cast<std::uint16_t>(0x8000 | kPositiveInfinity<T>.bits)};

// The largest finite number.
template <Half T>
inline constexpr T kLargest{static_cast<std::uint16_t>(kPositiveInfinity<T>.bits - 1)};

template <Half T>
inline constexpr T kSmallestNormal{static_cast<std::uint16_t>(1 << T::kFractionBits)};

template <Half T>
inline constexpr T kSmallestSubnormal{1};

// The only NaN that CUDA's conversions from FP32 produce, in both formats (PTX ISA, "cvt": canonical NaN
// 0x7FFF).
template <Half T>
inline constexpr T kCanonicalNan{0x7FFF};

template <Half T>
constexpr std::uint16_t magnitude_bits(T value) {
  return value.bits & 0x7FFF;
}

template <Half T>
constexpr bool sign_bit(T value) {
  return (value.bits & 0x8000) != 0;
}

template <Half T>
constexpr T negated(T value) {
  return T{static_cast<std::uint16_t>(value.bits ^ 0x8000)};
}

enum class NumberClass { zero, subnormal, normal, infinite, nan };

constexpr std::string_view name(NumberClass number_class) {
  switch (number_class) {
    case NumberClass::zero:
      return "zero";
    case NumberClass::subnormal:
      return "subnormal";
    case NumberClass::normal:
      return "normal";
    case NumberClass::infinite:
      return "infinite";
    case NumberClass::nan:
      return "nan";
  }
  return "";
}

template <Half T>
constexpr NumberClass classify(T value) {
  const std::uint16_t magnitude = magnitude_bits(value);
  if (magnitude == 0) return NumberClass::zero;
  if (magnitude < kSmallestNormal<T>.bits) return NumberClass::subnormal;
  if (magnitude < kPositiveInfinity<T>.bits) return NumberClass::normal;
  return magnitude == kPositiveInfinity<T>.bits ? NumberClass::infinite : NumberClass::nan;
}

template <Half T>
constexpr bool is_nan(T value) {
  return magnitude_bits(value) > kPositiveInfinity<T>.bits;
}

template <Half T>
constexpr bool is_finite(T value) {
  return magnitude_bits(value) < kPositiveInfinity<T>.bits;
}

// value / 2^shift rounded to the nearest integer, ties to even. 1 <= shift <= 31 and value < 2^31.
constexpr std::uint32_t shift_right_to_nearest_even(std::uint32_t value, int shift) {
  const std::uint32_t odd = (value >> shift) & 1;
  return (value + (1u << (shift - 1)) - 1 + odd) >> shift;
}

// FP32 to the nearest T, ties to even. Subnormals are kept, a magnitude of at least kLargest plus half an ULP
// becomes an infinity, every NaN becomes 0x7FFF (`cvt.rn.bf16.f32` and `cvt.rn.f16.f32`).
template <Half T>
constexpr T round_to(float value) {
  constexpr int kDropped = 23 - T::kFractionBits;
  constexpr int kBias = (1 << (T::kExponentBits - 1)) - 1;
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kBias) << 23;
  constexpr std::uint32_t kSmallestNormalFp32 = kRebias + (1u << 23);
  constexpr std::uint32_t kAboveEveryT = (kRebias + (static_cast<std::uint32_t>(2 * kBias + 1) << 23));

  const std::uint32_t bits = float_bits(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000);
  const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
  if (is_nan_bits(bits)) return kCanonicalNan<T>;
  if (magnitude >= kAboveEveryT) return T{static_cast<std::uint16_t>(sign | kPositiveInfinity<T>.bits)};

  std::uint32_t rounded = 0;
  if (magnitude >= kSmallestNormalFp32) {
    // Exponent and fraction are one integer: a carry out of the fraction raises the exponent, up to infinity.
    rounded = shift_right_to_nearest_even(magnitude - kRebias, kDropped);
  } else {
    // The result counts units of the smallest subnormal; a carry makes it the smallest normal number.
    const auto exponent = static_cast<int>(magnitude >> 23);
    const std::uint32_t significand = exponent == 0 ? magnitude : (magnitude & 0x7FFFFFu) | 0x800000u;
    const int shift = kDropped + (127 - kBias + 1) - (exponent == 0 ? 1 : exponent);
    rounded = shift > 25 ? 0 : shift_right_to_nearest_even(significand, shift);
  }
  return T{static_cast<std::uint16_t>(sign | rounded)};
}

// T to FP32, exactly. The payload and the sign of a NaN are kept.
template <Half T>
constexpr float widen(T value) {
  constexpr int kDropped = 23 - T::kFractionBits;
  constexpr int kBias = (1 << (T::kExponentBits - 1)) - 1;
  constexpr std::uint32_t kRebias = static_cast<std::uint32_t>(127 - kBias) << 23;

  const std::uint32_t sign = static_cast<std::uint32_t>(value.bits & 0x8000) << 16;
  const std::uint32_t magnitude = magnitude_bits(value);
  if constexpr (kRebias == 0) {
    return float_from_bits(sign | magnitude << kDropped);
  } else {
    if (magnitude == 0) return float_from_bits(sign);
    if (magnitude >= kPositiveInfinity<T>.bits)
      return float_from_bits(sign | 0x7F800000u | magnitude << kDropped);
    if (magnitude >= kSmallestNormal<T>.bits)
      return float_from_bits(sign | ((magnitude << kDropped) + kRebias));
    // A subnormal is a normal FP32 number: move its leading bit to the hidden place.
    const int leading_zeros = std::countl_zero(magnitude) - (31 - T::kFractionBits);
    const std::uint32_t fraction = (magnitude << (kDropped + leading_zeros)) & 0x7FFFFFu;
    const std::uint32_t exponent = static_cast<std::uint32_t>(127 - kBias + 1 - leading_zeros) << 23;
    return float_from_bits(sign | exponent | fraction);
  }
}

// Position on the number line counted in representable numbers: 0 for both zeros, kPositiveInfinity.bits for
// +inf, negative for negative numbers. Meaningless for a NaN.
template <Half T>
constexpr std::int32_t ordered(T value) {
  const std::int32_t magnitude = magnitude_bits(value);
  return sign_bit(value) ? -magnitude : magnitude;
}

// The least number above `value`: both zeros give the smallest subnormal, the negative of it gives -0, +inf
// gives itself, a NaN gives the canonical NaN (IEEE 754-2019, 5.3.1, except for the NaN's payload).
template <Half T>
constexpr T next_up(T value) {
  if (is_nan(value)) return kCanonicalNan<T>;
  if (value == kPositiveInfinity<T>) return value;
  if (magnitude_bits(value) == 0) return kSmallestSubnormal<T>;
  return T{static_cast<std::uint16_t>(sign_bit(value) ? value.bits - 1 : value.bits + 1)};
}

// The greatest number below `value`: the mirror image of next_up.
template <Half T>
constexpr T next_down(T value) {
  return is_nan(value) ? kCanonicalNan<T> : negated(next_up(negated(value)));
}

// ulp_distance of a NaN from a number: more than any two numbers are apart, and below 2^17.
inline constexpr std::uint32_t kUlpDistanceFromNan = (1u << 17) - 1;

// How many representable numbers lie between a and b, one of them included: 0 for +0 against -0 and for two
// NaNs of any bits (their identity is a matter of bits, not of distance), 1 for neighbours, infinity being the
// neighbour of kLargest. A NaN is kUlpDistanceFromNan away from every number.
template <Half T>
constexpr std::uint32_t ulp_distance(T a, T b) {
  if (is_nan(a) || is_nan(b)) return is_nan(a) && is_nan(b) ? 0 : kUlpDistanceFromNan;
  const std::int32_t difference = ordered(a) - ordered(b);
  return static_cast<std::uint32_t>(difference < 0 ? -difference : difference);
}

}  // namespace bitproof::reference
