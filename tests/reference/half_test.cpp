#include "reference/half.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <class T>
using HalfTest = ForEachDtype<T>;
TYPED_TEST_SUITE(HalfTest, Dtypes);

TYPED_TEST(HalfTest, WideningAndRoundingBackIsTheIdentityOfEveryNumber) {
  for (const TypeParam value : all_values<TypeParam>()) {
    if (!is_nan(value)) {
      EXPECT_EQ(round_to<TypeParam>(widen(value)), value);
    }
  }
}

TYPED_TEST(HalfTest, WideningKeepsOrderSpacingAndClass) {
  for (const TypeParam value : all_values<TypeParam>()) {
    const float wide = widen(value);
    switch (classify(value)) {
      case NumberClass::zero:
        EXPECT_EQ(wide, 0.0f);
        break;
      case NumberClass::subnormal:
        // A subnormal is its integer times the smallest one.
        EXPECT_EQ(std::fabs(wide),
                  static_cast<float>(magnitude_bits(value)) * widen(kSmallestSubnormal<TypeParam>));
        break;
      case NumberClass::normal:
        EXPECT_TRUE(std::isfinite(wide));
        break;
      case NumberClass::infinite:
        EXPECT_EQ(std::fabs(wide), kInfinity);
        break;
      case NumberClass::nan:
        EXPECT_TRUE(std::isnan(wide));
        break;
    }
    if (!is_nan(value)) {
      EXPECT_EQ(std::signbit(wide), sign_bit(value));
    }
    if (is_finite(value) && !sign_bit(value)) {
      EXPECT_LT(wide, widen(next_up(value)));
    }
  }
}

TYPED_TEST(HalfTest, EveryTieRoundsToEven) {
  for (const TypeParam lower : all_values<TypeParam>()) {
    if (sign_bit(lower) || !is_finite(lower) || lower == kLargest<TypeParam>) continue;
    const TypeParam upper = next_up(lower);
    const auto tie = static_cast<float>((double{widen(lower)} + double{widen(upper)}) / 2);
    const TypeParam even = lower.bits % 2 == 0 ? lower : upper;
    EXPECT_EQ(round_to<TypeParam>(tie), even);
    EXPECT_EQ(round_to<TypeParam>(-tie), negated(even));
    EXPECT_EQ(round_to<TypeParam>(std::nextafter(tie, 0.0f)), lower);
    EXPECT_EQ(round_to<TypeParam>(std::nextafter(tie, kInfinity)), upper);
  }
}

TYPED_TEST(HalfTest, OverflowBeginsHalfAnUlpAboveTheLargestNumber) {
  const float largest = widen(kLargest<TypeParam>);
  const float half_ulp = (largest - widen(next_down(kLargest<TypeParam>))) / 2;
  EXPECT_EQ(round_to<TypeParam>(largest + half_ulp), kPositiveInfinity<TypeParam>);
  EXPECT_EQ(round_to<TypeParam>(-largest - half_ulp), kNegativeInfinity<TypeParam>);
  EXPECT_EQ(round_to<TypeParam>(std::nextafter(largest + half_ulp, 0.0f)), kLargest<TypeParam>);
  EXPECT_EQ(round_to<TypeParam>(std::numeric_limits<float>::max()), kPositiveInfinity<TypeParam>);
  EXPECT_EQ(round_to<TypeParam>(kInfinity), kPositiveInfinity<TypeParam>);
}

TYPED_TEST(HalfTest, EveryNanBecomesTheCanonicalNan) {
  for (std::uint32_t payload = 1; payload < 1u << 23; payload += 4099) {
    EXPECT_EQ(round_to<TypeParam>(float_from_bits(0x7F800000u | payload)).bits, 0x7FFF);
    EXPECT_EQ(round_to<TypeParam>(float_from_bits(0xFF800000u | payload)).bits, 0x7FFF);
  }
}

TYPED_TEST(HalfTest, NeighboursAreOneUlpApartAndInverse) {
  for (const TypeParam value : all_values<TypeParam>()) {
    if (is_nan(value)) {
      EXPECT_EQ(next_up(value), kCanonicalNan<TypeParam>);
      EXPECT_EQ(next_down(value), kCanonicalNan<TypeParam>);
    } else if (value != kPositiveInfinity<TypeParam>) {
      EXPECT_EQ(ulp_distance(value, next_up(value)), 1u) << value;
      EXPECT_GT(widen(next_up(value)), widen(value));
      EXPECT_EQ(ulp_distance(next_down(next_up(value)), value), 0u) << value;
    }
  }
  EXPECT_EQ(next_up(kPositiveInfinity<TypeParam>), kPositiveInfinity<TypeParam>);
  EXPECT_EQ(next_down(kNegativeInfinity<TypeParam>), kNegativeInfinity<TypeParam>);
  EXPECT_EQ(next_up(TypeParam{0x8000}), kSmallestSubnormal<TypeParam>);
  EXPECT_EQ(next_up(TypeParam{0x8001}), TypeParam{0x8000});  // the negative smallest subnormal, then -0
}

TYPED_TEST(HalfTest, UlpDistanceIgnoresTheSignOfZeroAndSetsNansApart) {
  const TypeParam one = round_to<TypeParam>(1.0f);
  const TypeParam nan = kCanonicalNan<TypeParam>;
  EXPECT_EQ(ulp_distance(TypeParam{0x0000}, TypeParam{0x8000}), 0u);
  EXPECT_EQ(ulp_distance(TypeParam{0x0001}, TypeParam{0x8001}), 2u);
  EXPECT_EQ(ulp_distance(nan, negated(nan)), 0u);
  EXPECT_EQ(ulp_distance(nan, one), kUlpDistanceFromNan);
  EXPECT_EQ(ulp_distance(kPositiveInfinity<TypeParam>, nan), kUlpDistanceFromNan);
  EXPECT_LT(ulp_distance(kNegativeInfinity<TypeParam>, kPositiveInfinity<TypeParam>), kUlpDistanceFromNan);
}

TEST(Half, KnownConversions) {
  // 1/3 = 0x3EAAAAAB: bf16 keeps 0x3EAA and rounds up for the remainder 0xAAAB > 0x8000; fp16 is 0x3555.
  EXPECT_EQ(round_to<Bf16>(1.0f / 3).bits, 0x3EAB);
  EXPECT_EQ(round_to<Fp16>(1.0f / 3).bits, 0x3555);
  EXPECT_EQ(round_to<Fp16>(65504.0f).bits, 0x7BFF);
  EXPECT_EQ(round_to<Fp16>(65520.0f).bits, 0x7C00);
  EXPECT_EQ(round_to<Fp16>(0x1p-24f).bits, 0x0001);
  EXPECT_EQ(round_to<Fp16>(0x1p-25f).bits, 0x0000);     // a tie, to even
  EXPECT_EQ(round_to<Fp16>(-0x1.8p-24f).bits, 0x8002);  // a tie between 1 and 2, to even
  EXPECT_EQ(round_to<Bf16>(0x1p-133f).bits, 0x0001);
  EXPECT_EQ(round_to<Bf16>(-0x1p-134f).bits, 0x8000);       // a tie, to even
  EXPECT_EQ(float_bits(widen(Fp16{0x0001})), 0x33800000u);  // 2^-24
  EXPECT_EQ(float_bits(widen(Fp16{0xFC01})), 0xFF802000u);  // payload and sign of a NaN are kept
  EXPECT_EQ(float_bits(widen(Bf16{0x7F81})), 0x7F810000u);
  static_assert(round_to<Bf16>(1.0f) == Bf16{0x3F80} && widen(Fp16{0x3C00}) == 1.0f);
}

TEST(Half, EqualityIsIdentityOfBits) {
  EXPECT_NE(Bf16{0x0000}, Bf16{0x8000});
  EXPECT_EQ(Fp16{0x7E01}, Fp16{0x7E01});
}

TEST(Half, ClassesHaveTheirEdges) {
  EXPECT_EQ(classify(Fp16{0x8000}), NumberClass::zero);
  EXPECT_EQ(classify(Fp16{0x03FF}), NumberClass::subnormal);
  EXPECT_EQ(classify(Fp16{0x0400}), NumberClass::normal);
  EXPECT_EQ(classify(Fp16{0x7BFF}), NumberClass::normal);
  EXPECT_EQ(classify(Fp16{0xFC00}), NumberClass::infinite);
  EXPECT_EQ(classify(Fp16{0x7C01}), NumberClass::nan);
  EXPECT_EQ(classify(Bf16{0x007F}), NumberClass::subnormal);
  EXPECT_EQ(classify(Bf16{0x0080}), NumberClass::normal);
  EXPECT_EQ(classify(Bf16{0x7F80}), NumberClass::infinite);
  EXPECT_EQ(classify(Bf16{0xFF81}), NumberClass::nan);
}

TEST(Half, DtypesHaveNames) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) EXPECT_EQ(parse_dtype(name(dtype)), dtype);
  EXPECT_EQ(parse_dtype("fp32"), std::nullopt);
  EXPECT_EQ(visit_dtype(Dtype::fp16, []<Half T>() { return T::kFractionBits; }), 10);
  EXPECT_EQ(visit_dtype(Dtype::bf16, []<Half T>() { return T::kFractionBits; }), 7);
}

template <Half T>
void expect_monotone_rounding(float a, float b) {
  if (std::isnan(a) || std::isnan(b)) return;
  if (a > b) std::swap(a, b);
  RC_ASSERT(ordered(round_to<T>(a)) <= ordered(round_to<T>(b)));
}

RC_GTEST_PROP(RoundingProperty, IsMonotone, ()) {
  const auto a = any_bits<std::uint32_t>();
  const auto b = any_bits<std::uint32_t>();
  expect_monotone_rounding<Bf16>(float_from_bits(a), float_from_bits(b));
  expect_monotone_rounding<Fp16>(float_from_bits(a), float_from_bits(b));
  // Neighbours of fp16's range, which random bits seldom reach.
  const float near =
      std::ldexp(float_from_bits((a & 0x007FFFFFu) | 0x3F800000u), static_cast<int>(b % 48) - 30);
  expect_monotone_rounding<Fp16>(near, std::nextafter(near, kInfinity));
}

template <Half T>
void expect_idempotent_rounding(float value) {
  const T once = round_to<T>(value);
  RC_ASSERT(round_to<T>(widen(once)) == once);
}

RC_GTEST_PROP(RoundingProperty, IsIdempotent, ()) {
  const auto bits = any_bits<std::uint32_t>();
  expect_idempotent_rounding<Bf16>(float_from_bits(bits));
  expect_idempotent_rounding<Fp16>(float_from_bits(bits));
}

template <Half T>
void expect_nearest(float value) {
  if (!std::isfinite(value) || std::fabs(value) > widen(kLargest<T>)) return;
  const T rounded = round_to<T>(value);
  const double error = std::fabs(double{widen(rounded)} - double{value});
  for (const T other : {next_up(rounded), next_down(rounded)}) {
    RC_ASSERT(!is_finite(other) || error <= std::fabs(double{widen(other)} - double{value}));
  }
}

RC_GTEST_PROP(RoundingProperty, ReturnsANearestNumber, ()) {
  const auto bits = any_bits<std::uint32_t>();
  expect_nearest<Bf16>(float_from_bits(bits));
  expect_nearest<Fp16>(std::ldexp(float_from_bits((bits & 0x807FFFFFu) | 0x3F800000u),
                                  static_cast<int>(bits >> 23 & 0xFF) % 42 - 27));
}

RC_GTEST_PROP(UlpDistanceProperty, IsSymmetricAndObeysTheTriangleInequality, ()) {
  const auto a = any_bits<std::uint16_t>();
  const auto b = any_bits<std::uint16_t>();
  const auto c = any_bits<std::uint16_t>();
  const Fp16 x{a}, y{b}, z{c};
  RC_PRE(!is_nan(x) && !is_nan(y) && !is_nan(z));
  RC_ASSERT(ulp_distance(x, y) == ulp_distance(y, x));
  RC_ASSERT(ulp_distance(x, z) <= ulp_distance(x, y) + ulp_distance(y, z));
}

}  // namespace
}  // namespace bitproof::reference
