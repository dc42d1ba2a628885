#include "reference/nvfp4/quantise.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

std::vector<Bf16> bf16(const std::vector<float>& values) {
  std::vector<Bf16> result;
  for (const float value : values) result.push_back(round_to<Bf16>(value));
  return result;
}

std::vector<std::uint8_t> codes(const Nvfp4Matrix& matrix) {
  std::vector<std::uint8_t> result;
  for (const E2m1 value : matrix.values) result.push_back(value.bits);
  return result;
}

// A block of zeros with some first elements.
std::vector<Bf16> block(std::vector<float> first) {
  first.resize(kNvfp4Block);
  return bf16(first);
}

TEST(Quantise, ALargestElementOf2688HasUnitTensorScaleAndTheBlockScale448) {
  const std::vector<Bf16> x = block({2688, -1344, 448, 100, 0, -0.0f});
  const float scale = nvfp4_tensor_scale<Bf16>(x);
  EXPECT_EQ(scale, 1.0f);
  const Nvfp4Matrix matrix = quantise_nvfp4<Bf16>(x, kNvfp4Block, scale);
  EXPECT_EQ(matrix.scales[0].bits, 0x7E);
  // 2688/448 = 6, -1344/448 = -3, 448/448 = 1, 100/448 = 0.223 is nearer to 0 than to 0.5; zeros keep their
  // sign.
  EXPECT_EQ(codes(matrix),
            (std::vector<std::uint8_t>{0x7, 0xD, 0x2, 0x0, 0x0, 0x8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}));
}

TEST(Quantise, AnElementAboveSixTimesTheRoundedScaleSaturates) {
  // With a tensor scale of 1 the block's scale is 102/6 = 17, a tie between 16 and 18, to the even code 16
  // (0x58); 102/16 = 6.375 saturates at 6.
  const Nvfp4Matrix matrix = quantise_nvfp4<Bf16>(block({102, 100}), kNvfp4Block, 1.0f);
  EXPECT_EQ(matrix.scales[0].bits, 0x58);
  EXPECT_EQ(matrix.values[0].bits, 0x7);
  EXPECT_EQ(matrix.values[1].bits, 0x7);
}

TEST(Quantise, ATensorOfZerosHasUnitTensorScaleZeroScalesAndKeepsItsSigns) {
  const std::vector<Bf16> x = block({0, -0.0f});
  EXPECT_EQ(nvfp4_tensor_scale<Bf16>(x), 1.0f);
  const Nvfp4Matrix matrix = quantise_nvfp4<Bf16>(x, kNvfp4Block, 1.0f);
  EXPECT_EQ(matrix.scales[0].bits, 0);
  EXPECT_EQ(matrix.values[0].bits, 0x0);
  EXPECT_EQ(matrix.values[1].bits, 0x8);
  EXPECT_EQ(dequantise_nvfp4<Bf16>(matrix)[1].bits, 0x8000);
}

TEST(Quantise, ABlockWhoseScaleRoundsToZeroIsAllZeros) {
  // 6 * 2^-10 is the tie between the scales 0 and 2^-9; it goes to the even code 0.
  const Nvfp4Matrix matrix = quantise_nvfp4<Bf16>(block({6 * 0x1p-10f, -6 * 0x1p-10f}), kNvfp4Block, 1.0f);
  EXPECT_EQ(matrix.scales[0].bits, 0);
  EXPECT_EQ(matrix.values[0].bits, 0x0);
  EXPECT_EQ(matrix.values[1].bits, 0x8);
}

TEST(Quantise, InfinitiesCountAsTheLargestNumberAndNansDoNotCount) {
  std::vector<Bf16> x = block({1.0f});
  x[1] = kPositiveInfinity<Bf16>;
  x[2] = kNegativeInfinity<Bf16>;
  x[3] = Bf16{0xFFC0};
  const float scale = nvfp4_tensor_scale<Bf16>(x);
  EXPECT_EQ(scale, widen(kLargest<Bf16>) / 2688);
  const Nvfp4Matrix matrix = quantise_nvfp4<Bf16>(x, kNvfp4Block, scale);
  EXPECT_EQ(matrix.values[0].bits, 0x0);
  EXPECT_EQ(matrix.values[1].bits, 0x7);
  EXPECT_EQ(matrix.values[2].bits, 0xF);
  EXPECT_EQ(matrix.values[3].bits, 0x7);

  std::vector<Bf16> nans = block({});
  nans[0] = Bf16{0x7FC0};
  EXPECT_EQ(nvfp4_tensor_scale<Bf16>(nans), 1.0f);
}

TEST(Quantise, RefusesADepthThatIsNotWholeBlocks) {
  const std::vector<Bf16> x(24);
  EXPECT_THROW(quantise_nvfp4<Bf16>(x, 24, 1.0f), std::invalid_argument);
  EXPECT_THROW(quantise_nvfp4<Bf16>(x, 16, 1.0f), std::invalid_argument) << "not whole rows";
  EXPECT_THROW(quantise_nvfp4<Bf16>(x, 0, 1.0f), std::invalid_argument);
}

TEST(Dequantise, RefusesSignedAndNanScales) {
  Nvfp4Matrix matrix = quantise_nvfp4<Bf16>(block({1}), kNvfp4Block, 1.0f);
  for (const unsigned code : {0x7Fu, 0x80u, 0xB8u, 0xFFu}) {
    matrix.scales[0].bits = static_cast<std::uint8_t>(code);
    EXPECT_THROW(dequantise_nvfp4<Bf16>(matrix), std::invalid_argument) << code;
  }
}

template <Half T>
std::vector<T> any_rows(std::size_t count) {
  std::vector<T> x;
  for (std::size_t i = 0; i < count; ++i) x.push_back(T{*rc::gen::arbitrary<std::uint16_t>()});
  return x;
}

// x is already a product of a value and a scale: quantising it with the same scales loses nothing.
RC_GTEST_PROP(Quantise, IsExactOnWhatDequantiseMadeOfBlocksThatHoldASix, ()) {
  Nvfp4Matrix matrix{.rows = 3, .depth = 32, .values = {}, .scales = {}, .tensor_scale = 1};
  for (std::size_t i = 0; i < 96; ++i)
    matrix.values.push_back({static_cast<std::uint8_t>(i % kNvfp4Block == 3 ? 0x7 : *rc::gen::inRange(0, 16))});
  for (std::size_t i = 0; i < 6; ++i)
    matrix.scales.push_back({static_cast<std::uint8_t>(*rc::gen::inRange(1, 0x7F))});
  const Nvfp4Matrix again = quantise_nvfp4<Bf16>(dequantise_nvfp4<Bf16>(matrix), 32, 1.0f);
  RC_ASSERT(again.values == matrix.values);
  RC_ASSERT(again.scales == matrix.scales);
}

// Any bits, NaNs and infinities included: every scale is one, no unit is zero, and both dtypes hold the
// products.
RC_GTEST_PROP(Quantise, GivesScalesThatAreOnesAndUnitsThatAreNotZero, ()) {
  const std::vector<Bf16> x = any_rows<Bf16>(64);
  const float tensor_scale = nvfp4_tensor_scale<Bf16>(x);
  RC_ASSERT(tensor_scale > 0 && std::isfinite(tensor_scale));
  const Nvfp4Matrix matrix = quantise_nvfp4<Bf16>(x, 32, tensor_scale);
  for (const E4m3 scale : matrix.scales) {
    RC_ASSERT(is_scale(scale));
    RC_ASSERT(scale.bits == 0 || widen(scale) * tensor_scale > 0);
  }
  const std::vector<Bf16> in_bf16 = dequantise_nvfp4<Bf16>(matrix);
  const std::vector<Fp16> in_fp16 = dequantise_nvfp4<Fp16>(matrix);
  for (std::size_t i = 0; i < in_bf16.size(); ++i) RC_ASSERT(widen(in_bf16[i]) == widen(in_fp16[i]));
}

RC_GTEST_PROP(Quantise, OfSomeRowsIsThatOfTheWhole, ()) {
  const std::vector<Fp16> x = any_rows<Fp16>(64);
  const float tensor_scale = nvfp4_tensor_scale<Fp16>(x);
  const Nvfp4Matrix whole = quantise_nvfp4<Fp16>(x, 32, tensor_scale);
  const Nvfp4Matrix second = quantise_nvfp4<Fp16>(std::span<const Fp16>(x).subspan(32), 32, tensor_scale);
  RC_ASSERT(std::ranges::equal(second.values, std::span(whole.values).subspan(32)));
  RC_ASSERT(std::ranges::equal(second.scales, std::span(whole.scales).subspan(2)));
}

}  // namespace
}  // namespace bitproof::reference
