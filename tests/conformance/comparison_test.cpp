#include "conformance/comparison.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/reference/support.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Fp16;

TEST(DifferenceOfTwoResults, IsOneOfItsKinds) {
  // 0x7FFF and 0x7E00 are NaNs of fp16, 0x7FFF and 0xFFC0 of bf16.
  EXPECT_EQ(difference(Fp16{0x3C00}, Fp16{0x3C00}), Difference::none);
  EXPECT_EQ(difference(Fp16{0x7FFF}, Fp16{0x7FFF}), Difference::none);
  EXPECT_EQ(difference(Fp16{0x3C00}, Fp16{0x3C01}), Difference::value);
  EXPECT_EQ(difference(Fp16{0x3C00}, Fp16{0xBC00}), Difference::value);
  EXPECT_EQ(difference(Fp16{0x0001}, Fp16{0x8001}), Difference::value) << "a subnormal is no zero";
  EXPECT_EQ(difference(Fp16{0x8000}, Fp16{0x0000}), Difference::zero_sign);
  EXPECT_EQ(difference(Bf16{0x0000}, Bf16{0x8000}), Difference::zero_sign);
  EXPECT_EQ(difference(Fp16{0x7FFF}, Fp16{0x7E00}), Difference::nan_bits);
  EXPECT_EQ(difference(Bf16{0x7FFF}, Bf16{0xFFC0}), Difference::nan_bits);
  EXPECT_EQ(difference(Fp16{0x7FFF}, Fp16{0x7C00}), Difference::value) << "infinity is no NaN";
  EXPECT_EQ(difference(Fp16{0x3C00}, Fp16{0x7FFF}), Difference::value);
  EXPECT_EQ(difference(Fp16{0x7FFF}, Fp16{0x3C00}), Difference::value);
}

TEST(DifferenceOfTwoResults, ThePoisonIsUnwrittenWhateverWasExpected) {
  ASSERT_EQ(kPoison, 0xFFA5);
  EXPECT_EQ(difference(Bf16{0x3F80}, Bf16{0xFFA5}), Difference::unwritten);
  EXPECT_EQ(difference(Bf16{0x7FFF}, Bf16{0xFFA5}), Difference::unwritten) << "both are NaNs";
  EXPECT_EQ(difference(Fp16{0x8000}, Fp16{0xFFA5}), Difference::unwritten);
  // No result is the poison: a conversion gives the one NaN 0x7FFF.
  EXPECT_TRUE(reference::is_nan(Bf16{kPoison}) && reference::is_nan(Fp16{kPoison}));
}

TEST(DifferenceOfTwoResults, HasTheNamesOfTheReport) {
  EXPECT_EQ(name(Difference::none), "none");
  EXPECT_EQ(name(Difference::value), "value");
  EXPECT_EQ(name(Difference::zero_sign), "zero_sign");
  EXPECT_EQ(name(Difference::nan_bits), "nan_bits");
  EXPECT_EQ(name(Difference::unwritten), "unwritten");
}

TEST(DistanceOfTwoResults, CountsRepresentableNumbers) {
  EXPECT_EQ(distance(Fp16{0x3C00}, Fp16{0x3C03}), 3u);
  EXPECT_EQ(distance(Fp16{0x0001}, Fp16{0x8001}), 2u) << "across zero";
  EXPECT_EQ(distance(Bf16{0x7F7F}, Bf16{0x7F80}), 1u) << "infinity is the neighbour of the largest";
  EXPECT_EQ(distance(Bf16{0x7F80}, Bf16{0xFF80}), 0xFF00u) << "twice 0x7F80: the most that there is";
}

TEST(DistanceOfTwoResults, IsZeroBetweenZerosAndBetweenNans) {
  EXPECT_EQ(distance(Fp16{0x0000}, Fp16{0x8000}), 0u);
  EXPECT_EQ(distance(Fp16{0x7FFF}, Fp16{0x7E00}), 0u);
}

TEST(DistanceOfTwoResults, OfANanFromANumberExceedsEveryTolerance) {
  EXPECT_EQ(distance(Fp16{0x7FFF}, Fp16{0x3C00}), kNoDistance);
  EXPECT_EQ(distance(Fp16{0x3C00}, Fp16{0x7E01}), kNoDistance);
  EXPECT_EQ(kNoDistance, 0xFFFFFFFFu);
}

RC_GTEST_PROP(DifferenceProperty, IsNoneExactlyForEqualBits, ()) {
  const auto a = reference::any_bits<std::uint16_t>(), b = reference::any_bits<std::uint16_t>();
  RC_ASSERT((difference(Bf16{a}, Bf16{b}) == Difference::none) == (a == b));
  RC_ASSERT((difference(Fp16{a}, Fp16{b}) == Difference::none) == (a == b));
  RC_ASSERT(difference(Fp16{a}, Fp16{a}) == Difference::none);
}

TEST(UlpHistogramBucket, IsTheNumberOfBitsOfTheDistance) {
  EXPECT_EQ(histogram_bucket(0), 0u);
  EXPECT_EQ(histogram_bucket(1), 1u);
  EXPECT_EQ(histogram_bucket(2), 2u);
  EXPECT_EQ(histogram_bucket(3), 2u);
  EXPECT_EQ(histogram_bucket(4), 3u);
  EXPECT_EQ(histogram_bucket(0xFFFF), 16u);
  EXPECT_EQ(histogram_bucket(0x10000), 17u);
  EXPECT_EQ(histogram_bucket(kNoDistance), 17u) << "the last one holds everything above";
}

// Expected 1, 2, -0, NaN, 1, 1; got the same but for indices 1 (4 ULP), 2 (sign), 3 (payload), 5 (poison).
const std::vector<Fp16> kExpected{{0x3C00}, {0x4000}, {0x8000}, {0x7FFF}, {0x3C00}, {0x3C00}};
const std::vector<Fp16> kGot{{0x3C00}, {0x4004}, {0x0000}, {0x7E00}, {0x3C00}, {0xFFA5}};

TEST(Comparison, CountsEveryElementUnderOneKind) {
  Tally tally;
  compare<Fp16>(kExpected, kGot, 100, tally);
  EXPECT_EQ(tally.kinds, (KindCounts{.value = 1, .zero_sign = 1, .nan_bits = 1, .unwritten = 1}));
  EXPECT_EQ(tally.max_ulp, 4u);
  // Distances 0 (sign, payload, poison) and 4.
  UlpHistogram histogram{};
  histogram[0] = 3;
  histogram[3] = 1;
  EXPECT_EQ(tally.histogram, histogram);
  EXPECT_EQ(tally.first, 101u);
}

TEST(Comparison, OfEqualBitsFindsNothing) {
  Tally tally;
  compare<Fp16>(kExpected, kExpected, 0, tally);
  compare<Fp16>({}, {}, 0, tally);
  EXPECT_EQ(tally.kinds.total(), 0u);
  EXPECT_FALSE(tally.first);
}

TEST(Comparison, KeepsTheLowestIndexWhateverTheOrder) {
  Tally tally;
  compare<Fp16>(kExpected, kGot, 1000, tally);
  compare<Fp16>(kExpected, kGot, 10, tally);
  compare<Fp16>(kExpected, kGot, 500, tally);
  EXPECT_EQ(tally.first, 11u);
  EXPECT_EQ(tally.kinds.total(), 12u);
}

bool same(const Tally& a, const Tally& b) {
  return a.kinds == b.kinds && a.max_ulp == b.max_ulp && a.histogram == b.histogram && a.first == b.first;
}

RC_GTEST_PROP(TallyProperty, OfPartsMergesToThatOfTheWhole, ()) {
  const auto size = *rc::gen::inRange<std::size_t>(1, 60);
  std::vector<Bf16> expected(size), got(size);
  for (std::size_t i = 0; i < size; ++i) {
    expected[i] = Bf16{reference::any_bits<std::uint16_t>()};
    got[i] = *rc::gen::inRange(0, 3) == 0 ? Bf16{reference::any_bits<std::uint16_t>()} : expected[i];
  }
  const auto cut = *rc::gen::inRange<std::size_t>(0, size + 1);
  const std::span<const Bf16> all_expected(expected), all_got(got);
  Tally whole, front, back;
  compare<Bf16>(all_expected, all_got, 7, whole);
  compare<Bf16>(all_expected.first(cut), all_got.first(cut), 7, front);
  compare<Bf16>(all_expected.subspan(cut), all_got.subspan(cut), 7 + cut, back);
  Tally forward = front, backward = back;
  forward += back;
  backward += front;
  RC_ASSERT(same(forward, whole));
  RC_ASSERT(same(backward, whole));
  whole += Tally{};
  RC_ASSERT(same(forward, whole));
}

}  // namespace
}  // namespace bitproof::conformance
