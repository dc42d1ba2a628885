// The kernels' own arithmetic on the host, which is written independently of the reference, against it.
#include "kernels/half_pair.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/half.h"
#include "reference/rounded_add.h"
#include "tests/reference/support.h"

namespace bitproof::kernels {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;

template <Half T>
using PairOf = HalfPair<T::kDtype == reference::Dtype::bf16 ? HalfType::bf16 : HalfType::fp16>;

constexpr std::uint32_t packed(std::uint16_t low, std::uint16_t high) {
  return low | std::uint32_t{high} << 16;
}

// The two halves of rounding the pair (value, -value).
template <Half T>
void expect_rounded(float value) {
  const std::uint32_t expected =
      packed(reference::round_to<T>(value).bits, reference::round_to<T>(-value).bits);
  ASSERT_EQ(PairOf<T>::round({value, -value}), expected) << std::hexfloat << value;
}

template <class T>
class HalfPairOf : public ::testing::Test {};
TYPED_TEST_SUITE(HalfPairOf, reference::Dtypes);

TYPED_TEST(HalfPairOf, WidensEveryValueInBothHalvesWithItsBits) {
  for (const TypeParam x : reference::all_values<TypeParam>()) {
    const auto other = static_cast<std::uint16_t>(~x.bits);
    const FloatPair wide = PairOf<TypeParam>::widen(packed(x.bits, other));
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide.low), std::bit_cast<std::uint32_t>(reference::widen(x))) << x;
    ASSERT_EQ(std::bit_cast<std::uint32_t>(wide.high),
              std::bit_cast<std::uint32_t>(reference::widen(TypeParam{other})))
        << x;
  }
}

TYPED_TEST(HalfPairOf, RoundsEveryValueToItselfAndEveryNanToTheCanonicalOne) {
  for (const TypeParam x : reference::all_values<TypeParam>()) {
    const float wide = reference::widen(x);
    const std::uint16_t expected = reference::is_nan(x) ? 0x7FFF : x.bits;
    ASSERT_EQ(PairOf<TypeParam>::round({wide, wide}), packed(expected, expected)) << x;
  }
}

TYPED_TEST(HalfPairOf, RoundsBothSidesOfEveryTieToNearestEven) {
  // The last tie is that of overflow: the number above the largest one is taken where it would be, at twice the
  // power of two that its exponent stands for.
  for (const TypeParam x : reference::all_values<TypeParam>()) {
    if (!reference::is_finite(x) || reference::sign_bit(x)) continue;
    const double lower = reference::widen(x);
    const double below = reference::widen(reference::next_down(x));
    const double upper = x == reference::kLargest<TypeParam> ? lower + (lower - below)
                                                             : double{reference::widen(reference::next_up(x))};
    const auto tie = static_cast<float>(lower + (upper - lower) / 2);  // exact: one bit more than T has
    ASSERT_NO_FATAL_FAILURE(expect_rounded<TypeParam>(tie));
    ASSERT_NO_FATAL_FAILURE(expect_rounded<TypeParam>(std::nextafter(tie, 0.0f)));
    ASSERT_NO_FATAL_FAILURE(expect_rounded<TypeParam>(std::nextafter(tie, std::numeric_limits<float>::max())));
  }
}

TEST(HalfPairRounding, OverflowsAtHalfAnUlpAboveTheLargest) {
  // fp16: 65504 + 16 = 65520 is the tie between 0x7BFF and 65536, and goes to even, infinity.
  EXPECT_EQ(HalfPair<HalfType::fp16>::round({65520.0f, std::nextafter(65520.0f, 0.0f)}),
            packed(0x7C00, 0x7BFF));
  // bf16: 0x7F7F8000 is the tie above the largest number, 0x7F7F.
  EXPECT_EQ(
      HalfPair<HalfType::bf16>::round({std::bit_cast<float>(0x7F7F8000u), std::bit_cast<float>(0x7F7F7FFFu)}),
      packed(0x7F80, 0x7F7F));
}

RC_GTEST_PROP(HalfPairProperty, RoundsAnyFp32NumberAsTheReferenceDoes, ()) {
  for (int i = 0; i < 1000; ++i) {
    const auto bits = reference::any_bits<std::uint32_t>();
    const auto value = std::bit_cast<float>(bits);
    RC_ASSERT(HalfPair<HalfType::bf16>::round({value, value}) ==
              packed(reference::round_to<Bf16>(value).bits, reference::round_to<Bf16>(value).bits));
    // fp16's range is a small part of FP32's: bring the exponent near it.
    const auto near = std::bit_cast<float>((bits & 0x87FFFFFFu) | 0x30000000u);
    RC_ASSERT(HalfPair<HalfType::fp16>::round({value, near}) ==
              packed(reference::round_to<Fp16>(value).bits, reference::round_to<Fp16>(near).bits));
  }
}

TYPED_TEST(HalfPairOf, AddsSpecialsAsIntegerArithmeticDoes) {
  const auto specials = reference::special_values<TypeParam>();
  for (const TypeParam a : specials)
    for (const TypeParam b : specials) {
      const std::uint16_t expected = reference::add_rounded_integer(a, b).bits;
      ASSERT_EQ(PairOf<TypeParam>::add(packed(a.bits, b.bits), packed(b.bits, a.bits)),
                packed(expected, expected))
          << a << " + " << b;
    }
}

template <Half T>
void expect_sums_of_integer_arithmetic() {
  for (int i = 0; i < 1000; ++i) {
    const auto a = reference::any_bits<std::uint32_t>(), b = reference::any_bits<std::uint32_t>();
    const auto sum = [&](int shift) {
      return reference::add_rounded_integer(T{static_cast<std::uint16_t>(a >> shift)},
                                            T{static_cast<std::uint16_t>(b >> shift)})
          .bits;
    };
    RC_ASSERT(PairOf<T>::add(a, b) == packed(sum(0), sum(16)));
  }
}

RC_GTEST_PROP(HalfPairProperty, AddsAnyBf16PairAsIntegerArithmeticDoes, ()) {
  expect_sums_of_integer_arithmetic<Bf16>();
}
RC_GTEST_PROP(HalfPairProperty, AddsAnyFp16PairAsIntegerArithmeticDoes, ()) {
  expect_sums_of_integer_arithmetic<Fp16>();
}

}  // namespace
}  // namespace bitproof::kernels
