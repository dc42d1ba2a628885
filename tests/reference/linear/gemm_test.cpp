#include "reference/linear/gemm.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <oneapi/tbb/global_control.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "tests/reference/linear/distributions.h"

namespace bitproof::reference {
namespace {

using test::Distribution;
using test::Sampler;

std::vector<std::uint32_t> bits_of(const std::vector<float>& values) {
  std::vector<std::uint32_t> bits;
  for (const float value : values) bits.push_back(float_bits(value));
  return bits;
}

// The results of gemm on every vector instruction set of this machine, by name.
template <Half T>
std::vector<std::pair<std::string, std::vector<std::uint32_t>>> on_every_target(const std::vector<T>& x,
                                                                                const std::vector<T>& w,
                                                                                const GemmShape& shape,
                                                                                int splits) {
  std::vector<std::pair<std::string, std::vector<std::uint32_t>>> results;
  for (std::int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    const std::int64_t target = targets & -targets;
    hwy::SetSupportedTargetsForTest(target);
    results.emplace_back(hwy::TargetName(target), bits_of(gemm<T>(x, w, shape, splits)));
  }
  hwy::SetSupportedTargetsForTest(0);
  return results;
}

// One run of the property: random operands of a random small shape.
template <Half T>
void expect_the_plain_sum(int largest_splits) {
  const GemmShape shape{.rows = *rc::gen::inRange<std::size_t>(1, 4),
                        .columns = *rc::gen::inRange<std::size_t>(1, 70),
                        .depth = 8 * *rc::gen::inRange<std::size_t>(0, 40)};
  const int splits = *rc::gen::inRange(1, largest_splits + 1);
  const auto of_x = *rc::gen::elementOf(test::kDistributions);
  const auto of_w = *rc::gen::elementOf(test::kDistributions);
  const std::vector<T> x =
      Sampler<T>(of_x, *rc::gen::arbitrary<std::uint64_t>()).vector(shape.rows * shape.depth);
  const std::vector<T> w =
      Sampler<T>(of_w, *rc::gen::arbitrary<std::uint64_t>()).vector(shape.columns * shape.depth);
  const std::vector<std::uint32_t> plain = bits_of(gemm_plain<T>(x, w, shape, splits));
  for (const auto& [target, bits] : on_every_target(x, w, shape, splits)) {
    RC_LOG() << target << '\n';
    RC_ASSERT(bits == plain);
  }
}

RC_GTEST_PROP(Gemm, EqualsThePlainSumOnEveryTargetInBf16, ()) { expect_the_plain_sum<Bf16>(1); }
RC_GTEST_PROP(Gemm, EqualsThePlainSumOnEveryTargetInFp16, ()) { expect_the_plain_sum<Fp16>(1); }
RC_GTEST_PROP(Gemm, EqualsThePlainSumForEverySplitCount, ()) { expect_the_plain_sum<Bf16>(9); }

// Every pair of distributions, so that none depends on the luck of a draw.
template <Half T>
void expect_every_pair_of_distributions() {
  const GemmShape shape{.rows = 2, .columns = 40, .depth = 136};
  for (const Distribution of_x : test::kDistributions) {
    for (const Distribution of_w : test::kDistributions) {
      const std::vector<T> x = Sampler<T>(of_x, 1).vector(shape.rows * shape.depth);
      const std::vector<T> w = Sampler<T>(of_w, 2).vector(shape.columns * shape.depth);
      const std::vector<std::uint32_t> plain = bits_of(gemm_plain<T>(x, w, shape));
      for (const auto& [target, bits] : on_every_target(x, w, shape, 1))
        EXPECT_EQ(bits, plain) << target << ", x " << of_x << ", w " << of_w;
    }
  }
}

TEST(Gemm, EqualsThePlainSumForEveryPairOfDistributionsInBf16) { expect_every_pair_of_distributions<Bf16>(); }
TEST(Gemm, EqualsThePlainSumForEveryPairOfDistributionsInFp16) { expect_every_pair_of_distributions<Fp16>(); }

TEST(Gemm, EqualsThePlainSumAtEveryAlignment) {
  // Two steps whose largest products have the exponent e, for every e that two normal numbers can make.
  const GemmShape shape{.rows = 1, .columns = 8, .depth = 32};
  const std::vector<Bf16> fractions = Sampler<Bf16>(Distribution::near_one, 8).vector(9 * shape.depth);
  const auto scaled = [&](std::size_t begin, std::size_t end, int exponent) {
    std::vector<Bf16> result;
    for (std::size_t i = begin; i < end; ++i)
      result.push_back(round_to<Bf16>(std::ldexp(widen(fractions[i]), exponent)));
    return result;
  };
  for (int exponent = -252; exponent <= 254; ++exponent) {
    const std::vector<Bf16> x = scaled(0, shape.depth, exponent / 2 - 2);
    const std::vector<Bf16> w = scaled(shape.depth, fractions.size(), exponent - exponent / 2 - 2);
    const std::vector<std::uint32_t> plain = bits_of(gemm_plain<Bf16>(x, w, shape));
    for (const auto& [target, bits] : on_every_target(x, w, shape, 1))
      EXPECT_EQ(bits, plain) << target << ", exponent " << exponent;
  }
}

TEST(Gemm, TakesStepsOfSixteenInAscendingOrder) {
  // Step 1 leaves 2^25. Step 2 adds 16 ones: E = 25, the unit is 1, the sum 2^25 + 16 is a multiple of FP32's
  // unit 4 there.
  std::vector<Bf16> x(32, round_to<Bf16>(1.0f)), w(32, round_to<Bf16>(1.0f));
  for (std::size_t i = 1; i < 16; ++i) w[i] = Bf16{0};
  x[0] = round_to<Bf16>(0x1p25f);
  EXPECT_EQ(gemm<Bf16>(x, w, {1, 1, 32}).front(), 0x1p25f + 16);
  // In the opposite order the same. But 2^27 + 16 ones, of which each is below the unit 2^(27 - 25), is 2^27
  // ...
  x[0] = round_to<Bf16>(0x1p27f);
  EXPECT_EQ(gemm<Bf16>(x, w, {1, 1, 32}).front(), 0x1p27f);
  // ... while 16 ones first, and then 2^27 + 16, keeps the 16.
  std::vector<Bf16> reversed(x.rbegin(), x.rend()), reversed_w(w.rbegin(), w.rend());
  EXPECT_EQ(gemm<Bf16>(reversed, reversed_w, {1, 1, 32}).front(), 0x1p27f + 16);
}

TEST(Gemm, FillsTheLastStepWithZeros) {
  // 24 ones: a step of 16 and one of 8.
  const std::vector<Fp16> ones(24, round_to<Fp16>(1.0f));
  EXPECT_EQ(gemm<Fp16>(ones, ones, {1, 1, 24}).front(), 24.0f);
}

TEST(Gemm, KeepsSumsThatDoNotFit32Bits) {
  // Step 1 leaves c = 255/128. Step 2 adds 16 * (255/128)^2 = 63.5009765625 with E = 0: in units of 2^-25 more
  // than 2^31.
  std::vector<Bf16> x(32, round_to<Bf16>(1.9921875f)), w(32, round_to<Bf16>(1.9921875f));
  for (std::size_t i = 0; i < 16; ++i) w[i] = Bf16{0};
  w[0] = round_to<Bf16>(1.0f);
  for (const auto& [target, bits] : on_every_target(x, w, {1, 1, 32}, 1))
    EXPECT_EQ(bits, (std::vector{float_bits(65.4931640625f)})) << target;
}

TEST(Gemm, AddsTheChunksOfASplitInAscendingOrder) {
  // Chunks of 64: 2^24, 1, 1. ((2^24 + 1) + 1) rounds to even twice and stays 2^24; in one sum it would be 2^24
  // + 2.
  std::vector<Bf16> x(192), w(192, round_to<Bf16>(1.0f));
  x[0] = round_to<Bf16>(0x1p24f);
  x[64] = x[128] = round_to<Bf16>(1.0f);
  EXPECT_EQ(gemm<Bf16>(x, w, {1, 1, 192}, 3).front(), 0x1p24f);
  // Two splits: a chunk of ceil(96 / 64) * 64 = 128, then one of 64. 2^24 + 1 is cut to 2^24, and 1 is lost
  // again.
  EXPECT_EQ(gemm<Bf16>(x, w, {1, 1, 192}, 2).front(), 0x1p24f);
  x[64] = Bf16{0};
  x[65] = x[66] = x[67] = round_to<Bf16>(1.0f);
  // 2^24 + 3 in one step of the first chunk, cut to 2^24 + 2; the last 1 is a tie and rounds to even, 2^24 + 4.
  EXPECT_EQ(gemm<Bf16>(x, w, {1, 1, 192}, 2).front(), 0x1p24f + 4);
}

TEST(Gemm, CutsASplitDepthAtMultiplesOf64) {
  EXPECT_EQ(split_chunk(3072, 1), 3072u);
  EXPECT_EQ(split_chunk(3072, 5), 640u);  // ceil(3072 / 5) = 615
  EXPECT_EQ(split_chunk(192, 2), 128u);   // 96
  EXPECT_EQ(split_chunk(64, 8), 64u);     // one chunk, though 8 splits were asked for
}

TEST(Gemm, GivesARowTheSameBitsInEveryBatch) {
  constexpr std::size_t kDepth = 272, kColumns = 72, kRows = 300;  // more than one piece in every direction
  const std::vector<Bf16> x = Sampler<Bf16>(Distribution::wide, 1).vector(kRows * kDepth);
  const std::vector<Bf16> w = Sampler<Bf16>(Distribution::wide, 2).vector(kColumns * kDepth);
  const std::vector<std::uint32_t> all = bits_of(gemm<Bf16>(x, w, {kRows, kColumns, kDepth}));
  const std::vector<std::size_t> sample{0, 1, 17, 255, 256, 299};
  const std::vector<Bf16> rows = gather_rows<Bf16>(x, kDepth, sample);
  const std::vector<std::uint32_t> some = bits_of(gemm<Bf16>(rows, w, {sample.size(), kColumns, kDepth}));
  const std::vector<std::uint32_t> plain =
      bits_of(gemm_plain<Bf16>(rows, w, {sample.size(), kColumns, kDepth}));
  for (std::size_t i = 0; i < sample.size(); ++i) {
    for (std::size_t j = 0; j < kColumns; ++j) {
      EXPECT_EQ(some[i * kColumns + j], all[sample[i] * kColumns + j]);
      EXPECT_EQ(some[i * kColumns + j], plain[i * kColumns + j]);
    }
  }
}

TEST(Gemm, DoesNotDependOnTheNumberOfThreads) {
  const GemmShape shape{.rows = 290, .columns = 100, .depth = 264};
  const std::vector<Fp16> x = Sampler<Fp16>(Distribution::cancelling, 3).vector(shape.rows * shape.depth);
  const std::vector<Fp16> w = Sampler<Fp16>(Distribution::wide, 4).vector(shape.columns * shape.depth);
  const auto with_threads = [&](std::size_t threads) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    return bits_of(gemm<Fp16>(x, w, shape));
  };
  EXPECT_EQ(with_threads(1), with_threads(2));
}

TEST(Gemm, SumsNothingToPositiveZero) {
  EXPECT_EQ(bits_of(gemm<Bf16>({}, {}, {2, 3, 0})), std::vector<std::uint32_t>(6, 0));
  EXPECT_TRUE(gemm<Bf16>({}, {}, {0, 3, 0}).empty());
}

TEST(Gemm, RefusesWhatWasNotModelled) {
  EXPECT_FALSE(refuse_prediction({1, 8, 8}, 1));
  EXPECT_FALSE(refuse_prediction({7, 16, 0}, 4));
  const auto depth = refuse_prediction({8, 8, 12}, 1);
  ASSERT_TRUE(depth);
  EXPECT_NE(depth->reason.find("K = 12 and N = 8 must both be multiples of 8"), std::string::npos)
      << depth->reason;
  EXPECT_TRUE(refuse_prediction({8, 1, 16}, 1));
  EXPECT_TRUE(refuse_prediction({8, 8, 16}, 0));
}

TEST(Gemm, ThrowsOnOperandsThatDoNotFit) {
  const std::vector<Bf16> x(16), w(32);
  EXPECT_THROW(gemm<Bf16>(x, w, {2, 2, 16}), std::invalid_argument);
  EXPECT_THROW(gemm<Bf16>(x, w, {1, 3, 16}), std::invalid_argument);
  EXPECT_THROW(gemm<Bf16>(x, w, {1, 2, 16}, 0), std::invalid_argument);
  EXPECT_THROW(gemm<Bf16>(std::span(x).first(12), std::span(w).first(12), {1, 1, 12}), std::invalid_argument);
}

// Independent of the rule: how large the error may be. A step cuts at most 17 terms by less than 2^(E - 25)
// each and its result by less than one FP32 unit, 2^-23 of it. 2^E is at most the largest term, and every
// accumulator is at most the sum of the magnitudes so far, up to those errors.
template <Half T>
void expect_error_within_bound(Distribution distribution) {
  const GemmShape shape{.rows = 40, .columns = 48, .depth = 1024};
  const std::vector<T> x = Sampler<T>(distribution, 5).vector(shape.rows * shape.depth);
  const std::vector<T> w = Sampler<T>(distribution, 6).vector(shape.columns * shape.depth);
  using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto matrix = [&](const std::vector<T>& values, std::size_t rows) {
    Matrix result(rows, shape.depth);
    for (std::size_t i = 0; i < values.size(); ++i) result.data()[i] = static_cast<double>(widen(values[i]));
    return result;
  };
  const Matrix wide_x = matrix(x, shape.rows), wide_w = matrix(w, shape.columns);
  const Matrix exact = wide_x * wide_w.transpose();
  const Matrix magnitudes = wide_x.cwiseAbs() * wide_w.cwiseAbs().transpose();

  const std::vector<float> y = gemm<T>(x, w, shape);
  const auto steps = static_cast<double>(shape.depth) / 16;
  double largest_share = 0;
  for (std::size_t i = 0; i < y.size(); ++i) {
    const double bound = steps * (17 * 0x1p-25 + 0x1p-23) * 1.001 * magnitudes.data()[i];
    const double error = std::abs(static_cast<double>(y[i]) - exact.data()[i]);
    ASSERT_LE(error, bound) << "element " << i;
    largest_share = std::max(largest_share, error / bound);
  }
  // A bound that is never approached would accept a wrong rule: one lost term of 1,024 is of the order of this.
  EXPECT_GT(largest_share, 1e-4);
}

TEST(Gemm, StaysWithinTheErrorBoundOfTruncation) {
  expect_error_within_bound<Bf16>(Distribution::near_one);
  expect_error_within_bound<Fp16>(Distribution::near_one);
  expect_error_within_bound<Bf16>(Distribution::wide);
  expect_error_within_bound<Fp16>(Distribution::wide);
}

}  // namespace
}  // namespace bitproof::reference
