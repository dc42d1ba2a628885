#include "reference/linear/tensor_core.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <stdexcept>

namespace bitproof::reference {
namespace {

constexpr std::uint32_t kFp32Infinity = 0x7F800000u;
constexpr int kFp32Bias = 127;
constexpr int kFp32FractionBits = 23;
constexpr int kFp32LeastSubnormal = -149;  // log2

bool is_nonzero(float value) { return (float_bits(value) & 0x7FFFFFFFu) != 0; }
bool is_infinite(float value) { return (float_bits(value) & 0x7FFFFFFFu) == kFp32Infinity; }
bool is_negative(float value) { return float_bits(value) >> 31 != 0; }

// (-1)^negative * significand * 2^(exponent - fraction_bits), the significand being below 2^(fraction_bits +
// 2).
struct Term {
  bool negative;
  int exponent;
  int fraction_bits;
  std::uint64_t significand;
};

// A finite FP32 number as its fields say.
Term decode(float value) {
  const std::uint32_t bits = float_bits(value);
  const auto field = static_cast<int>(bits >> kFp32FractionBits & 0xFF);
  const std::uint32_t fraction = bits & 0x7FFFFFu;
  return {.negative = is_negative(value),
          .exponent = std::max(field, 1) - kFp32Bias,
          .fraction_bits = kFp32FractionBits,
          .significand = field == 0 ? fraction : fraction | 0x800000u};
}

// A finite factor with the exponent and the fraction of its 16-bit format. Only zeros are cut off.
Term decode(const TensorCoreFormat& format, float value) {
  Term term = decode(value);
  const int exponent = std::max(term.exponent, format.least_exponent);
  term.significand >>= (kFp32FractionBits - format.fraction_bits) + (exponent - term.exponent);
  term.exponent = exponent;
  term.fraction_bits = format.fraction_bits;
  return term;
}

Term product(const Term& a, const Term& b) {
  return {.negative = a.negative != b.negative,
          .exponent = a.exponent + b.exponent,
          .fraction_bits = a.fraction_bits + b.fraction_bits,
          .significand = a.significand * b.significand};
}

// The term in units of 2^unit, the rest cut off. At most 28 bits, since unit >= exponent - 25.
std::int64_t truncated(const Term& term, int unit) {
  const int shift = term.exponent - term.fraction_bits - unit;
  const std::uint64_t magnitude = shift >= 0    ? term.significand << shift
                                  : shift > -64 ? term.significand >> -shift
                                                : 0;
  return term.negative ? -static_cast<std::int64_t>(magnitude) : static_cast<std::int64_t>(magnitude);
}

// sum * 2^unit rounded toward zero to FP32.
float truncated_to_fp32(std::int64_t sum, int unit) {
  const std::uint32_t sign = sum < 0 ? 0x80000000u : 0;
  const auto magnitude = static_cast<std::uint64_t>(std::abs(sum));
  const int exponent = static_cast<int>(std::bit_width(magnitude)) - 1 + unit;
  if (exponent > kFp32Bias) return float_from_bits(sign | kFp32Infinity);

  const int least_bit = std::max(exponent - kFp32FractionBits, kFp32LeastSubnormal);
  const int shift = unit - least_bit;
  const auto significand =
      static_cast<std::uint32_t>(shift >= 0 ? magnitude << shift : magnitude >> std::min(-shift, 63));
  if (significand == 0) return 0.0f;  // also a sum below the least subnormal, whatever its sign
  // The hidden bit of a normal number raises the exponent field from the zero of a subnormal.
  const auto field = static_cast<std::uint32_t>(least_bit - kFp32LeastSubnormal);
  return float_from_bits(sign | ((field << kFp32FractionBits) + significand));
}

// The result where some factor or c is not finite, or nothing.
std::optional<float> non_finite_result(std::span<const float> a, std::span<const float> b, float c) {
  bool nan = is_nan_bits(float_bits(c));
  bool positive = is_infinite(c) && !is_negative(c);
  bool negative = is_infinite(c) && is_negative(c);
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_nan_bits(float_bits(a[i])) || is_nan_bits(float_bits(b[i]))) nan = true;
    if (!is_infinite(a[i]) && !is_infinite(b[i])) continue;
    if (!is_nonzero(a[i]) || !is_nonzero(b[i])) nan = true;
    (is_negative(a[i]) != is_negative(b[i]) ? negative : positive) = true;
  }
  if (nan || (positive && negative)) return float_from_bits(kTensorCoreNan);
  if (positive) return float_from_bits(kFp32Infinity);
  if (negative) return float_from_bits(0x80000000u | kFp32Infinity);
  return std::nullopt;
}

}  // namespace

float tensor_core_step(const TensorCoreFormat& format, std::span<const float> a, std::span<const float> b,
                       float c) {
  if (a.size() != b.size() || a.size() > kTensorCoreStep)
    throw std::invalid_argument("a tensor-core step takes up to 16 pairs of factors");
  if (const auto result = non_finite_result(a, b, c)) return *result;

  std::array<Term, kTensorCoreStep + 1> terms;
  std::size_t count = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (is_nonzero(a[i]) && is_nonzero(b[i]))
      terms[count++] = product(decode(format, a[i]), decode(format, b[i]));
  }
  if (is_nonzero(c)) terms[count++] = decode(c);

  int alignment = kTensorCoreLeastAlignment;
  for (std::size_t i = 0; i < count; ++i) alignment = std::max(alignment, terms[i].exponent);
  const int unit = alignment - kTensorCoreAlignedBits;
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += truncated(terms[i], unit);
  return truncated_to_fp32(sum, unit);
}

template <Half T>
float tensor_core_step(std::span<const T> a, std::span<const T> b, float c) {
  std::array<float, kTensorCoreStep> wide_a{}, wide_b{};
  if (a.size() != b.size() || a.size() > kTensorCoreStep)
    throw std::invalid_argument("a tensor-core step takes up to 16 pairs of factors");
  for (std::size_t i = 0; i < a.size(); ++i) {
    wide_a[i] = widen(a[i]);
    wide_b[i] = widen(b[i]);
  }
  return tensor_core_step(kTensorCoreFormat<T>, std::span<const float>(wide_a.data(), a.size()),
                          std::span<const float>(wide_b.data(), b.size()), c);
}

template float tensor_core_step(std::span<const Bf16>, std::span<const Bf16>, float);
template float tensor_core_step(std::span<const Fp16>, std::span<const Fp16>, float);

}  // namespace bitproof::reference
