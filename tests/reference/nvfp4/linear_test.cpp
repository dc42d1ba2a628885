// The NVFP4 linear layer and the MLPs of the reference.
#include "reference/nvfp4/linear.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/bulk.h"
#include "reference/linear/linear.h"
#include "reference/nvfp4/mlp.h"
#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

// A row of one block: `values` and zeros, the scale 1 (code 0x38).
Nvfp4Matrix row_of(std::vector<std::uint8_t> values, float tensor_scale) {
  values.resize(kNvfp4Block);
  Nvfp4Matrix matrix{
      .rows = 1, .depth = kNvfp4Block, .values = {}, .scales = {{0x38}}, .tensor_scale = tensor_scale};
  for (const std::uint8_t value : values) matrix.values.push_back({value});
  return matrix;
}

TEST(LinearNvfp4, MultipliesTheTensorScalesFirstAndRoundsOnce) {
  // 1.5 * 6 + 0.5 * 1 = 9.5, times 2^127 * 2^-127 = 1; 9.5 * 2^127 would be an infinity.
  const Nvfp4Matrix x = row_of({0x3, 0x1}, 0x1p127f), weight = row_of({0x7, 0x2}, 0x1p-127f);
  EXPECT_EQ(linear_nvfp4<Bf16>(x, weight)[0].bits, 0x4118);  // 9.5 = 1.1875 * 2^3
  // 1/2 + 1/2 with scales whose product is 1 + 2^-8: 1.00390625 is a tie in bf16, to the even 1.
  const Nvfp4Matrix one = row_of({0x1, 0x1}, 1.0f), tie = row_of({0x2, 0x2}, 0x1.01p0f);
  EXPECT_EQ(linear_nvfp4<Bf16>(one, tie)[0].bits, 0x3F80);
}

TEST(AddBias, RoundsASecondTime) {
  // 1 + 2^-8 in FP32 is a tie in bf16: 1. The GEMM's epilogue would have seen the product unrounded.
  const std::vector<Bf16> y{Bf16{0x3F80}, Bf16{0x8000}}, bias{Bf16{0x3B80}, Bf16{0x8000}};
  const std::vector<Bf16> sum = add_bias<Bf16>(y, bias, kPytorch211Cuda);
  EXPECT_EQ(sum[0].bits, 0x3F80);
  EXPECT_EQ(sum[1].bits, 0x8000);
}

template <Half T>
std::vector<T> numbers(std::size_t count, float scale) {
  std::vector<T> result;
  for (std::size_t i = 0; i < count; ++i)
    result.push_back(round_to<T>(static_cast<float>(*rc::gen::inRange(-1000, 1001)) * scale));
  return result;
}

// The accumulators of exact products do not depend on the format that carries them.
RC_GTEST_PROP(LinearNvfp4, TheAccumulatorsAreThoseOfEitherFormat, ()) {
  const std::vector<Bf16> x = numbers<Bf16>(3 * 48, 0.003f), w = numbers<Bf16>(8 * 48, 0.001f);
  const Nvfp4Matrix qx = quantise_nvfp4<Bf16>(x, 48, nvfp4_tensor_scale<Bf16>(x));
  const Nvfp4Matrix qw = quantise_nvfp4<Bf16>(w, 48, nvfp4_tensor_scale<Bf16>(w));
  const GemmShape shape{.rows = 3, .columns = 8, .depth = 48};
  RC_ASSERT(gemm<Bf16>(dequantise_nvfp4<Bf16>(qx), dequantise_nvfp4<Bf16>(qw), shape) ==
            gemm<Fp16>(dequantise_nvfp4<Fp16>(qx), dequantise_nvfp4<Fp16>(qw), shape));
}

// Why deferring an NVFP4 layer's bias is exact: added eagerly before GELU or by the fused operator.
RC_GTEST_PROP(MlpGeluNvfp4, IsTheEagerSequence, ()) {
  const std::vector<Fp16> x = numbers<Fp16>(2 * 32, 0.003f), w1 = numbers<Fp16>(16 * 32, 0.001f);
  const std::vector<Fp16> b1 = numbers<Fp16>(16, 0.001f), w2 = numbers<Fp16>(8 * 16, 0.001f),
                          b2 = numbers<Fp16>(8, 0.001f);
  const Nvfp4Matrix qx = quantise_nvfp4<Fp16>(x, 32, nvfp4_tensor_scale<Fp16>(x));
  const Nvfp4Matrix qw = quantise_nvfp4<Fp16>(w1, 32, nvfp4_tensor_scale<Fp16>(w1));
  const DenseLayer<Fp16> second{.weight = w2, .bias = b2, .columns = 8, .depth = 16};

  const std::vector<Fp16> product = linear_nvfp4<Fp16>(qx, qw);
  std::vector<Fp16> hidden = add_bias<Fp16>(product, b1, kPytorch211Cuda);
  gelu_tanh<Fp16>(hidden, hidden, kPytorch211Cuda);
  const std::vector<Fp16> expected = linear(LinearOperands<Fp16>{
      .x = hidden, .weight = w2, .bias = b2, .shape = {.rows = 2, .columns = 8, .depth = 16}});
  RC_ASSERT(mlp_gelu_nvfp4<Fp16>(qx, qw, b1, second, kPytorch211Cuda) == expected);
}

TEST(MlpGelu, LiteralBits) {
  // One row, x = (1, 0...), first layer the identity with bias 0, second layer the identity with bias 1, 8
  // wide: gelu(1) = 0x3F57 in bf16 (0.83984375), plus 1 = 1.83984375, a tie between 0x3FEB and 0x3FEC, to the
  // even.
  std::vector<Bf16> identity(64), x(8), zeros(8), ones(8, Bf16{0x3F80});
  for (std::size_t i = 0; i < 8; ++i) identity[9 * i] = Bf16{0x3F80};
  x[0] = Bf16{0x3F80};
  const DenseLayer<Bf16> first{.weight = identity, .bias = zeros, .columns = 8, .depth = 8};
  const DenseLayer<Bf16> second{.weight = identity, .bias = ones, .columns = 8, .depth = 8};
  const std::vector<Bf16> y = mlp_gelu<Bf16>(x, first, second, kPytorch211Cuda);
  EXPECT_EQ(y[0].bits, 0x3FEC);
  EXPECT_EQ(y[1].bits, 0x3F80);  // gelu(0) + 1
}

}  // namespace
}  // namespace bitproof::reference
