#include "reference/linear/linear.h"

#include <cstdint>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>

#include "reference/operators.h"
#include "reference/profile.h"
#include "tests/reference/linear/distributions.h"

namespace bitproof::reference {
namespace {

template <Half T>
std::vector<T> rounded(std::initializer_list<float> values) {
  std::vector<T> result;
  for (const float value : values) result.push_back(round_to<T>(value));
  return result;
}

template <Half T>
std::vector<std::uint16_t> bits_of(const std::vector<T>& values) {
  std::vector<std::uint16_t> bits;
  for (const T value : values) bits.push_back(value.bits);
  return bits;
}

// One output: eight products, of which those not named are zero.
template <Half T>
struct OneOutput {
  OneOutput(std::initializer_list<float> x_values, std::initializer_list<float> w_values, float bias_value)
      : x(rounded<T>(x_values)), w(rounded<T>(w_values)), bias(rounded<T>({bias_value})) {
    x.resize(8);
    w.resize(8);
  }
  LinearOperands<T> operands() const { return {.x = x, .weight = w, .bias = bias, .shape = {1, 1, 8}}; }

  std::vector<T> x, w, bias;
};

TEST(Linear, RoundsTheSumOnce) {
  // 1 + 2^-8 + 2^-8 = 1 + 2^-7, a bf16 number. Rounding the product first loses 2^-8 (a tie to even) and then
  // the bias.
  const OneOutput<Bf16> one({1, 0x1p-4f}, {1, 0x1p-4f}, 0x1p-8f);
  EXPECT_EQ(bits_of(linear(one.operands())), (std::vector<std::uint16_t>{0x3F81}));
}

TEST(LinearGeluTanh, AddsTheBiasInFp32) {
  // GELU(1 + 2^-7) = 0.8499 is 0x3F5A; GELU(1) would be 0x3F57.
  const OneOutput<Bf16> one({1, 0x1p-4f}, {1, 0x1p-4f}, 0x1p-8f);
  EXPECT_EQ(bits_of(linear_gelu_tanh(one.operands(), kPytorch211Cuda)), (std::vector<std::uint16_t>{0x3F5A}));
  EXPECT_EQ(bits_of(linear_gelu_epilogue(one.operands())), (std::vector<std::uint16_t>{0x3F5A}));
}

TEST(LinearGeluTanh, DoesNotOverflowBeforeTheBiasInFp16) {
  // 256 * 256 = 65536 is beyond fp16, 65536 - 65504 = 32 is not, and GELU(32) = 32.
  const OneOutput<Fp16> one({256}, {256}, -65504);
  EXPECT_EQ(bits_of(linear_gelu_tanh(one.operands(), kPytorch211Cuda)), (std::vector<std::uint16_t>{0x5000}));
  EXPECT_EQ(bits_of(linear_gelu_epilogue(one.operands())), (std::vector<std::uint16_t>{0x5000}));
}

TEST(LinearGeluTanh, ReturnsGeluOfEachColumnsBiasForZeroInput) {
  const std::vector<Fp16> x(64);
  const std::vector<Fp16> weight = test::Sampler<Fp16>(test::Distribution::near_one, 1).vector(64);
  const std::vector<Fp16> bias = rounded<Fp16>({1, 2, 3, 4, 5, 6, 7, 8});
  const LinearOperands<Fp16> operands{.x = x, .weight = weight, .bias = bias, .shape = {8, 8, 8}};
  const std::vector<std::uint16_t> row{0x3ABB, 0x3FD2, 0x41FE, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
  std::vector<std::uint16_t> square;
  for (int i = 0; i < 8; ++i) square.insert(square.end(), row.begin(), row.end());
  EXPECT_EQ(bits_of(linear_gelu_tanh(operands, kPytorch211Cuda)), square);
  EXPECT_EQ(bits_of(linear_gelu_epilogue(operands)), square);
}

TEST(LinearGeluTanh, IsGeluOfTheBiasForADepthOfZero) {
  const std::vector<Bf16> bias = rounded<Bf16>({1, -1, 0, -0.0f, 2, -8, 3, 4});
  const LinearOperands<Bf16> operands{.x = {}, .weight = {}, .bias = bias, .shape = {1, 8, 0}};
  std::vector<Bf16> eager, epilogue;
  for (const Bf16 b : bias) {
    const float sum = 0.0f + widen(b);  // the accumulator is +0, so that a bias of -0 is lost
    eager.push_back(gelu_tanh(round_to<Bf16>(sum), kPytorch211Cuda));
    epilogue.push_back(gelu_epilogue<Bf16>(sum));
  }
  EXPECT_EQ(bits_of(linear_gelu_tanh(operands, kPytorch211Cuda)), bits_of(eager));
  EXPECT_EQ(bits_of(linear_gelu_epilogue(operands)), bits_of(epilogue));
  EXPECT_EQ(bits_of(linear_gelu_tanh(operands, kPytorch211Cuda))[3], 0x0000);
}

TEST(LinearGeluTanh, WorksWithoutABias) {
  const std::vector<Bf16> x = rounded<Bf16>({1, 0, 0, 0, 0, 0, 0, 0});
  const LinearOperands<Bf16> operands{.x = x, .weight = x, .bias = {}, .shape = {1, 1, 8}};
  EXPECT_EQ(bits_of(linear_gelu_tanh(operands, kPytorch211Cuda)), (std::vector<std::uint16_t>{0x3F57}));
}

TEST(LinearGeluTanh, SumsOrderSensitiveInputsAsTheTensorCoreDoes) {
  // Large, small, cancelling in one step: 2^10 - 2^10 + 2^-16. E = 10, the unit is 2^-15, and the small term is
  // lost.
  const OneOutput<Bf16> together({0x1p10f, 0x1p-16f, -0x1p10f}, {1, 1, 1}, 0);
  EXPECT_EQ(biased_accumulators(together.operands()).front(), 0.0f);
  // One step later the cancellation is done, and it survives.
  std::vector<Bf16> x(24), w(24, round_to<Bf16>(1.0f)), bias(1);
  x[0] = round_to<Bf16>(0x1p10f);
  x[1] = round_to<Bf16>(-0x1p10f);
  x[16] = round_to<Bf16>(0x1p-16f);
  const LinearOperands<Bf16> apart{.x = x, .weight = w, .bias = bias, .shape = {1, 1, 24}};
  EXPECT_EQ(biased_accumulators(apart).front(), 0x1p-16f);
}

TEST(LinearGeluTanh, IsTheCompositionOfItsParts) {
  using test::Distribution;
  const GemmShape shape{.rows = 5, .columns = 40, .depth = 200};
  for (const Distribution distribution :
       {Distribution::near_one, Distribution::few_non_finite, Distribution::huge}) {
    test::Sampler<Fp16> sample(distribution, 7);
    const std::vector<Fp16> x = sample.vector(5 * 200), w = sample.vector(40 * 200), bias = sample.vector(40);
    const LinearOperands<Fp16> operands{.x = x, .weight = w, .bias = bias, .shape = shape, .splits = 2};
    const std::vector<float> accumulators = gemm_plain<Fp16>(x, w, shape, 2);
    std::vector<Fp16> stored, eager, epilogue;
    for (std::size_t i = 0; i < accumulators.size(); ++i) {
      const float sum = accumulators[i] + widen(bias[i % shape.columns]);
      stored.push_back(round_to<Fp16>(sum));
      eager.push_back(gelu_tanh(stored.back(), kPytorch211Cuda));
      epilogue.push_back(gelu_epilogue<Fp16>(sum));
    }
    EXPECT_EQ(bits_of(linear(operands)), bits_of(stored)) << distribution;
    EXPECT_EQ(bits_of(linear_gelu_tanh(operands, kPytorch211Cuda)), bits_of(eager)) << distribution;
    EXPECT_EQ(bits_of(linear_gelu_epilogue(operands)), bits_of(epilogue)) << distribution;
  }
}

TEST(LinearGeluTanh, ThrowsOnABiasThatDoesNotFit) {
  const std::vector<Bf16> x(8), bias(2);
  const LinearOperands<Bf16> operands{.x = x, .weight = x, .bias = bias, .shape = {1, 1, 8}};
  EXPECT_THROW(linear(operands), std::invalid_argument);
}

}  // namespace
}  // namespace bitproof::reference
