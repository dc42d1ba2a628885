#include "conformance/elementwise/input_source.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/half.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Fp16;

InputSource source_of(InputRule rule, std::uint64_t width, std::uint64_t seed = 1) {
  InputSource source;
  source.rule = rule;
  source.width = width;
  source.seed = seed;
  return source;
}

TEST(InputSourceTest, AllValuesEnumeratesThemInOrderWithBiasMinusZero) {
  const InputSource source = source_of(InputRule::all_values, 1024);
  std::uint32_t next = 0;
  for (std::uint64_t row = 0; row < 64; ++row)
    for (std::uint64_t column = 0; column < 1024; ++column) ASSERT_EQ(source.input(row, column), next++);
  EXPECT_EQ(next, 65536u);
  for (std::uint64_t column = 0; column < 1024; ++column) ASSERT_EQ(source.bias(column), 0x8000);
}

TEST(InputSourceTest, AllPairsIsRowByColumn) {
  InputSource source = source_of(InputRule::all_pairs, 65536);
  source.first_row = 0xAB00;
  EXPECT_EQ(source.input(0, 0), 0xAB00);
  EXPECT_EQ(source.input(0xCD, 12345), 0xABCD) << "whatever the column";
  for (std::uint64_t column = 0; column < 65536; ++column) ASSERT_EQ(source.bias(column), column);
}

InputSource three_specials() {
  InputSource source = source_of(InputRule::special, 16);
  source.special_count = 3;
  source.special = {0x0000, 0x3C00, 0x7FFF};
  return source;
}

TEST(InputSourceTest, SpecialsAreCrossedPairwiseAndRepeatToFillARow) {
  const InputSource source = three_specials();
  const std::vector<std::uint16_t> specials{0x0000, 0x3C00, 0x7FFF};
  for (std::uint64_t row = 0; row < 3; ++row)
    for (std::uint64_t column = 0; column < 16; ++column) {
      EXPECT_EQ(source.input(row, column), specials[row]);
      EXPECT_EQ(source.bias(column), specials[column % 3]);
    }
}

TEST(InputSourceTest, SpecialsOfAUnaryOperatorLieAlongTheRow) {
  InputSource source = three_specials();
  source.unary = true;
  for (std::uint64_t column = 0; column < 16; ++column)
    EXPECT_EQ(source.input(0, column), source.special[column % 3]);
}

RC_GTEST_PROP(InputSourceProperty, AnElementDependsOnSeedAndIndexOnlyNotOnTheBlocks, ()) {
  const InputRule rule = *rc::gen::element(InputRule::random_bits, InputRule::activations);
  InputSource whole =
      source_of(rule, *rc::gen::inRange<std::uint64_t>(1, 5000), *rc::gen::arbitrary<std::uint64_t>());
  whole.fp16 = *rc::gen::arbitrary<bool>();
  InputSource block = whole;
  block.first_row = *rc::gen::inRange<std::uint64_t>(0, 100'000);
  const auto row = *rc::gen::inRange<std::uint64_t>(0, 1000);
  const auto column = *rc::gen::inRange<std::uint64_t>(0, whole.width);
  RC_ASSERT(block.input(row, column) == whole.input(block.first_row + row, column));
  RC_ASSERT(block.bias(column) == whole.bias(column));
  // Two shapes with the same index: row-major positions of one sequence.
  InputSource reshaped = whole;
  reshaped.width = 1;
  RC_ASSERT(reshaped.input(row * whole.width + column, 0) == whole.input(row, column));
}

TEST(InputSourceTest, SeedsAndBiasStreamsDiffer) {
  for (const InputRule rule : {InputRule::random_bits, InputRule::activations}) {
    const InputSource one = source_of(rule, 1000, 1), two = source_of(rule, 1000, 2);
    InputSource other_stream = one;
    other_stream.bias_stream = 1;
    int same_inputs = 0, same_biases = 0, same_streams = 0, same_sides = 0;
    for (std::uint64_t column = 0; column < 1000; ++column) {
      same_inputs += one.input(0, column) == two.input(0, column);
      same_biases += one.bias(column) == two.bias(column);
      same_streams += one.bias(column) == other_stream.bias(column);
      same_sides += one.bias(column) == one.input(0, column);
    }
    // Activations have some thousand patterns, so a few of a thousand coincide.
    EXPECT_LT(same_inputs, 20);
    EXPECT_LT(same_biases, 20);
    EXPECT_LT(same_streams, 20);
    EXPECT_LT(same_sides, 20);
  }
}

TEST(InputSourceTest, RandomBitsReachEveryPatternAboutAsOften) {
  const InputSource source = source_of(InputRule::random_bits, 65536);
  std::vector<int> counts(65536);
  for (std::uint64_t row = 0; row < 64; ++row)
    for (std::uint64_t column = 0; column < 65536; ++column) ++counts[source.input(row, column)];
  // 64 each on average, Poisson: 8 standard deviations to either side.
  const auto [least, most] = std::ranges::minmax(counts);
  EXPECT_GT(least, 0);
  EXPECT_LT(most, 128);
}

struct Moments {
  double mean = 0, deviation = 0, kurtosis = 0, largest = 0;
};

Moments moments_of(std::size_t count, const std::function<double(std::size_t)>& sample) {
  double sum = 0, squares = 0, fourths = 0, largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double x = sample(i);
    sum += x;
    squares += x * x;
    fourths += x * x * x * x;
    largest = std::max(largest, std::fabs(x));
  }
  const auto n = static_cast<double>(count);
  const double variance = squares / n;  // around 0
  return {sum / n, std::sqrt(variance), fourths / n / (variance * variance), largest};
}

// The sum of four uniform numbers of 16 bits, centred: deviation 2^16 / sqrt(3), kurtosis 3 - 1.2/4.
TEST(InputSourceTest, ActivationsAreBoundedAndNearToNormal) {
  for (const bool fp16 : {false, true}) {
    InputSource source = source_of(InputRule::activations, 1 << 20);
    source.fp16 = fp16;
    const auto number = [fp16](std::uint16_t bits) {
      return double{fp16 ? reference::widen(Fp16{bits}) : reference::widen(Bf16{bits})};
    };
    const Moments input = moments_of(1 << 20, [&](std::size_t i) { return number(source.input(0, i)); });
    const Moments bias = moments_of(1 << 20, [&](std::size_t i) { return number(source.bias(i)); });
    EXPECT_NEAR(input.mean, 0, 0.01);
    EXPECT_NEAR(input.deviation, 4 / std::sqrt(3.0), 0.01);
    EXPECT_NEAR(input.kurtosis, 2.7, 0.02);
    EXPECT_LT(input.largest, 8);
    EXPECT_GT(input.largest, 7);
    EXPECT_NEAR(bias.mean, 0, 0.0025);
    EXPECT_NEAR(bias.deviation, 1 / std::sqrt(3.0), 0.0025);
    EXPECT_NEAR(bias.kurtosis, 2.7, 0.02);
    EXPECT_LT(bias.largest, 2);
  }
}

TEST(InputSourceTest, ActivationsOfBothFormatsTruncateOneNumber) {
  const InputSource bf16 = source_of(InputRule::activations, 1 << 18);
  InputSource fp16 = bf16;
  fp16.fp16 = true;
  // bf16 keeps the upper 16 bits of what fp16's longer significand kept.
  const auto truncated = [](std::uint16_t half) {
    return static_cast<std::uint16_t>(reference::float_bits(reference::widen(Fp16{half})) >> 16);
  };
  for (std::uint64_t column = 0; column < 1 << 18; ++column) {
    ASSERT_EQ(bf16.input(0, column), truncated(fp16.input(0, column)));
    ASSERT_EQ(bf16.bias(column), truncated(fp16.bias(column)));
  }
}

}  // namespace
}  // namespace bitproof::conformance
