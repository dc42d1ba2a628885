// Which computation wrong bits of a linear layer are those of.
#include "conformance/linear/models.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/linear/check.h"
#include "tests/conformance/linear/launchers.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;

const LinearContract kEagerBits = LinearContract::eager(reference::kPytorch211Cuda);
const LinearContract kEpilogueBits = LinearContract::epilogue(reference::kPytorch211Cuda);

// 8,192 sums of 1,024 products about as a network has them: where one in hundreds depends on the order in FP32.
constexpr std::size_t kRows = 64, kColumns = 128, kDepth = 1024;

LinearCase layer_of_1024() {
  const reference::GemmShape shape{.rows = kRows, .columns = kColumns, .depth = kDepth};
  LinearCase c;
  c.description = "activations";
  c.shape = shape;
  c.rows = {{0, shape.rows}};
  c.bf16 = [shape] { return random_layer<Bf16>(shape, OperandKind::activations, 7); };
  c.fp16 = [shape] { return random_layer<Fp16>(shape, OperandKind::activations, 7); };
  return c;
}

template <Half T>
PredictedCase<T> predict(const LinearCase& c) {
  PredictedCase<T> predicted{c.layer<T>(), {}};
  predicted.accumulators = reference::biased_accumulators(predicted.layer.operands());
  return predicted;
}

// What is found for the outputs that `output` makes of `sums`, in all rows of the layer.
template <Half T>
std::string found(const LinearContract& contract, const std::vector<float>& sums, auto&& output) {
  const LinearCase c = layer_of_1024();
  std::vector<T> got;
  for (const float sum : sums) got.push_back(output(sum));
  std::vector<std::size_t> rows(c.shape.rows);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = i;
  return describe(models_that_explain<T>(predict<T>(c), c, got, rows, contract));
}

template <Half T>
std::vector<float> sums_in(int splits) {
  return reference::biased_accumulators(layer_of_1024().layer<T>().operands(splits));
}

template <Half T>
T eager(float sum) {
  return testing::eager_output<T>(sum);
}

TEST(LinearModels, AreToldApartByTheirSums) {
  EXPECT_EQ(found<Fp16>(kEagerBits, sums_in<Fp16>(2), eager<Fp16>),
            "2 splits; eager's GELU of the rounded sum");
  EXPECT_EQ(found<Fp16>(kEagerBits, sums_in<Fp16>(3), eager<Fp16>),
            "3 splits; eager's GELU of the rounded sum");

  const auto layer = layer_of_1024().layer<Fp16>();
  reference::LinearOperands<Fp16> operands = layer.operands();
  operands.bias = {};
  const std::vector<float> products = reference::biased_accumulators(operands);
  EXPECT_EQ(found<Fp16>(kEagerBits, products, eager<Fp16>),
            "1 split without the bias; eager's GELU of the rounded sum");
  std::vector<float> rounded = products, fused = products, exact = products;
  for (std::size_t i = 0; i < products.size(); ++i) {
    const std::size_t row = i / kColumns, column = i % kColumns;
    const float bias = reference::widen(layer.bias[column]);
    rounded[i] = reference::widen(reference::round_to<Fp16>(products[i])) + bias;
    fused[i] = 0;
    double sum = 0;
    for (std::size_t k = 0; k < kDepth; ++k) {
      const float x = reference::widen(layer.x[row * kDepth + k]),
                  w = reference::widen(layer.weight[column * kDepth + k]);
      fused[i] = std::fma(x, w, fused[i]);
      sum += double{x} * double{w};
    }
    fused[i] += bias;
    exact[i] = static_cast<float>(sum + double{bias});
  }
  EXPECT_EQ(found<Fp16>(kEagerBits, rounded, eager<Fp16>),
            "1 split rounded before the bias is added; eager's GELU of the rounded sum");
  EXPECT_EQ(found<Fp16>(kEagerBits, fused, eager<Fp16>),
            "FP32 FMAs in ascending K; eager's GELU of the rounded sum");
  EXPECT_EQ(found<Fp16>(kEagerBits, exact, eager<Fp16>), "sums in binary64; eager's GELU of the rounded sum");
}

TEST(LinearModels, AreToldApartByTheirGelu) {
  const reference::Profile& profile = reference::kPytorch211Cuda;
  const std::vector<float> sums = sums_in<Fp16>(1);
  EXPECT_EQ(found<Fp16>(kEagerBits, sums, reference::gelu_epilogue<Fp16>),
            "1 split; cuBLASLt's GELU of the FP32 sum");
  EXPECT_EQ(found<Fp16>(kEpilogueBits, sums, eager<Fp16>), "1 split; eager's GELU of the rounded sum");
  EXPECT_EQ(found<Fp16>(kEagerBits, sums,
                        [&](float sum) {
                          return reference::round_result<Fp16>(reference::gelu_tanh_fp32(sum, profile),
                                                               profile);
                        }),
            "1 split; eager's GELU of the FP32 sum");
  EXPECT_EQ(
      found<Fp16>(kEagerBits, sums,
                  [&](float sum) { return reference::gelu_erf(reference::round_to<Fp16>(sum), profile); }),
      "1 split; erf GELU of the rounded sum");
  EXPECT_EQ(found<Fp16>(kEagerBits, sums, [](float sum) { return reference::round_to<Fp16>(sum); }),
            "1 split; the rounded sum without GELU");
}

TEST(LinearModels, AreNoneForBitsOfNone) {
  std::vector<float> sums = sums_in<Fp16>(1);
  sums[17] += std::abs(sums[17]);
  EXPECT_EQ(found<Fp16>(kEagerBits, sums, eager<Fp16>), "");
}

TEST(LinearModels, AreNamedTogetherWhereSeveralFit) {
  const auto splits = [](int n) { return LinearModel{.sum = LinearSum::tensor_core, .splits = n}; };
  EXPECT_EQ(describe(splits(1)), "1 split; eager's GELU of the rounded sum");
  EXPECT_EQ(describe({splits(2), splits(3)}), "2 splits or 3 splits; eager's GELU of the rounded sum");
  EXPECT_EQ(describe({splits(2), splits(3), splits(4), splits(5)}),
            "2 splits, 3 splits, 4 splits or 1 other; eager's GELU of the rounded sum");
  EXPECT_EQ(describe(std::vector<LinearModel>{}), "");
}

TEST(RowsToExplain, AreTheFirstWrongOneOthersAndRightOnes) {
  LinearCase c = layer_of_1024();
  const std::vector<Bf16> expected(c.shape.rows * c.shape.columns);
  std::vector<Bf16> got = expected;
  EXPECT_TRUE(rows_to_explain<Bf16>(c, expected, got).empty());
  got[5 * kColumns + 3] = Bf16{1};
  got[20 * kColumns] = Bf16{1};
  // 64 rows at most: the two wrong ones, and 62 of all, which here have these two among them.
  EXPECT_EQ(rows_to_explain<Bf16>(c, expected, got).size(), 62u);
  // 2^26 multiply-adds are 8 rows of 1024 x 8192.
  c.shape = {.rows = 64, .columns = 1024, .depth = 8192};
  const std::vector<Bf16> zeros(c.shape.rows * c.shape.columns);
  got = zeros;
  got[9 * 1024 + 1000] = got[50 * 1024] = Bf16{1};
  const std::vector<std::size_t> some = rows_to_explain<Bf16>(c, zeros, got);
  EXPECT_LE(some.size(), 8u);
  EXPECT_TRUE(std::ranges::binary_search(some, 9u) && std::ranges::binary_search(some, 50u));
  EXPECT_TRUE(std::ranges::binary_search(some, 0u));
}

TEST(LinearCheckOfACall, NamesTheModelOfAllBitsAndNotThatOfOneElement) {
  LinearDomain domain{
      .name = "random", .unit = "elements", .total = kRows * kColumns, .cases = {layer_of_1024()}};
  const std::size_t block = 0;
  Record record;
  record.domain = domain.name;
  record.seed = 1;
  const auto run = [&](testing::OutputOf<Fp16> output, int splits) {
    const auto check = make_linear_check<Fp16>(
        {.domain = domain,
         .location = Location::host,
         .contract = kEagerBits,
         .identity = record,
         .reproduce = [](std::uint64_t of) { return "again, block " + std::to_string(of); },
         .infers_model = true},
        std::make_unique<testing::FakeLauncher<Fp16>>(
            std::move(output), [](Launched<Fp16>& launched, int) { launched.algorithm.reset(); }, splits));
    return check->run_block(block);
  };
  const Record right = run(eager<Fp16>, 1);
  EXPECT_EQ(right.mismatches, 0u);
  ASSERT_EQ(right.algorithms.size(), 1u);
  EXPECT_EQ(right.algorithms[0].description, "bits of 1 split; eager's GELU of the rounded sum");
  EXPECT_EQ(right.algorithms[0].shapes.size(), 1u);

  const Record split = run(eager<Fp16>, 2);
  ASSERT_GT(split.mismatches, 0u);
  ASSERT_EQ(split.causes.size(), 1u);
  EXPECT_EQ(split.causes[0].name, "2 splits; eager's GELU of the rounded sum");
  EXPECT_EQ(split.causes[0].count, split.mismatches);
  EXPECT_EQ(split.first->diagnosis, "differs exactly as 2 splits; eager's GELU of the rounded sum would");
  EXPECT_EQ(split.first->parts_at, "") << "some element alone may look like the epilogue's";
  EXPECT_EQ(split.first->reproduce, "again, block " + std::to_string(block));
  EXPECT_EQ(split.algorithms[0].splits, 2u);
}

}  // namespace
}  // namespace bitproof::conformance
