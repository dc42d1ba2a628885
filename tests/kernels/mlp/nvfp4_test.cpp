// The production quantiser against the reference's, and the layout of scales.
#include "kernels/nvfp4/nvfp4.h"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernels/nvfp4/native.h"
#include "kernels/nvfp4/nvfp4_body.h"
#include "reference/nvfp4/quantise.h"
#include "tests/kernels/guarded_tensor.h"
#include "tests/kernels/mlp/model.h"

namespace bitproof::kernels {
namespace {

using reference::Bf16;
using reference::Fp16;

// FP32 numbers where rounding to a small format turns: every 16-bit prefix with the lower halves around a tie.
template <class Check>
void for_each_float(Check&& check) {
  for (std::uint32_t upper = 0; upper < 65536; ++upper)
    for (const std::uint32_t lower : {0x0000u, 0x0001u, 0x7FFFu, 0x8000u, 0x8001u, 0xFFFFu})
      check(std::bit_cast<float>(upper << 16 | lower));
}

TEST(Nvfp4Body, RoundsToE2m1AsTheReference) {
  for_each_float([](float x) { ASSERT_EQ(nvfp4::round_to_e2m1(x), reference::round_to_e2m1(x).bits) << x; });
}

TEST(Nvfp4Body, RoundsToAScaleAsTheReference) {
  for_each_float([](float x) {
    if (x >= 0) {
      ASSERT_EQ(nvfp4::round_to_scale(x), reference::round_to_scale(x).bits) << x;
    }
  });
}

TEST(Nvfp4Body, HasTheValuesOfAllCodes) {
  for (std::uint8_t code = 0; code < 16; ++code)
    EXPECT_EQ(std::bit_cast<std::uint32_t>(nvfp4::value_of_e2m1(code)),
              reference::float_bits(widen(reference::E2m1{code})));
  for (std::uint8_t code = 0; code <= 0x7E; ++code)
    EXPECT_EQ(nvfp4::value_of_scale(code), widen(reference::E4m3{code})) << int{code};
}

template <HalfType kType, reference::Half T>
void expect_the_products_of_the_reference() {
  for (std::uint8_t value = 0; value < 16; ++value)
    for (std::uint8_t scale = 0; scale <= 0x7E; ++scale) {
      const nvfp4::Block block{{value, 0}, scale};
      ASSERT_EQ(nvfp4::dequantise_pair<kType>(block, 0) & 0xFFFFu,
                reference::product<T>({value}, {scale}).bits);
    }
}

TEST(Nvfp4Body, DequantisesEveryValueAndScaleAsTheReference) {
  expect_the_products_of_the_reference<HalfType::bf16, Bf16>();
  expect_the_products_of_the_reference<HalfType::fp16, Fp16>();
}

constexpr std::size_t kRows = 3, kDepth = 48, kCount = kRows * kDepth;

// As the reference quantises these bits, codes, scales, tensor scale and products.
template <reference::Half T>
void quantises_as_the_reference(const std::vector<std::uint16_t>& bits, ScaleLayout layout) {
  test::GuardedTensor input({kRows, kDepth}, test::dtype_of<T>()), output({kRows, kDepth}, test::dtype_of<T>());
  std::ranges::copy(bits, input.elements().begin());
  constexpr std::int64_t kBlocks = kDepth / kNvfp4Block;
  std::vector<std::uint8_t> values(kCount / 2),
      scales(static_cast<std::size_t>(scale_bytes(layout, kRows, kBlocks)));
  float tensor_scale = 0;
  const Nvfp4Matrix matrix{.rows = kRows,
                           .depth = kDepth,
                           .values = values.data(),
                           .scales = scales.data(),
                           .layout = layout,
                           .tensor_scale = &tensor_scale};
  host::quantise_nvfp4(Matrix(input.description), matrix);
  host::dequantise_nvfp4(matrix, Matrix(output.description));

  std::vector<T> x;
  for (const std::uint16_t element : bits) x.push_back(T{element});
  const reference::Nvfp4Matrix expected =
      reference::quantise_nvfp4<T>(x, kDepth, reference::nvfp4_tensor_scale<T>(x));
  RC_ASSERT(tensor_scale == expected.tensor_scale);
  for (std::size_t i = 0; i < kCount; ++i)
    RC_ASSERT((values[i / 2] >> (i % 2 * 4) & 0xF) == expected.values[i].bits);
  for (std::int64_t row = 0; row < std::int64_t{kRows}; ++row)
    for (std::int64_t block = 0; block < kBlocks; ++block)
      RC_ASSERT(scales[static_cast<std::size_t>(scale_offset(layout, row, block, kBlocks))] ==
                expected.scales[static_cast<std::size_t>(row * kBlocks + block)].bits);
  const std::vector<T> products = reference::dequantise_nvfp4<T>(expected);
  for (std::size_t i = 0; i < kCount; ++i) RC_ASSERT(output.elements()[i] == products[i].bits);
  RC_ASSERT(output.guards_are_intact());
}

// Any bits: NaNs, infinities and subnormals among them; or of one magnitude, so that blocks are not all tiny.
std::vector<std::uint16_t> any_bits() {
  const std::uint16_t exponents = *rc::gen::element<std::uint16_t>(0xFFFF, 0x83FF, 0xBFFF, 0x80FF);
  std::vector<std::uint16_t> bits;
  for (std::size_t i = 0; i < kCount; ++i)
    bits.push_back(static_cast<std::uint16_t>(*rc::gen::arbitrary<std::uint16_t>() & exponents));
  return bits;
}

RC_GTEST_PROP(HostNvfp4, QuantisesAndDequantisesAsTheReference, ()) {
  const ScaleLayout layout = *rc::gen::element(ScaleLayout::row_major, ScaleLayout::tiled_128x4);
  const std::vector<std::uint16_t> bits = any_bits();
  quantises_as_the_reference<Bf16>(bits, layout);
  quantises_as_the_reference<Fp16>(bits, layout);
}

TEST(ScaleLayout, TilesAreThoseOfTheDocumentation) {
  constexpr auto at = [](std::int64_t row, std::int64_t block) {
    return scale_offset(ScaleLayout::tiled_128x4, row, block, 8);
  };
  // Inside a tile: (row % 32) * 16 + (row / 32) * 4 + block.
  EXPECT_EQ(at(0, 3), 3);
  EXPECT_EQ(at(1, 0), 16);
  EXPECT_EQ(at(31, 0), 496);
  EXPECT_EQ(at(32, 0), 4);
  EXPECT_EQ(at(127, 3), 511);
  EXPECT_EQ(at(0, 4), 512) << "the next tile along the row";
  EXPECT_EQ(at(128, 0), 1024) << "the next row of tiles";
}

TEST(ScaleLayout, OffsetsAreDistinctAndInside) {
  for (const ScaleLayout layout : {ScaleLayout::row_major, ScaleLayout::tiled_128x4}) {
    std::set<std::int64_t> offsets;
    for (std::int64_t row = 0; row < 130; ++row)
      for (std::int64_t block = 0; block < 5; ++block) offsets.insert(scale_offset(layout, row, block, 5));
    EXPECT_EQ(offsets.size(), 650u);
    EXPECT_LT(*offsets.rbegin(), scale_bytes(layout, 130, 5));
  }
}

struct Codes {
  std::vector<std::uint8_t> values = std::vector<std::uint8_t>(16), scales = std::vector<std::uint8_t>(2, 0x38);
  Nvfp4Codes view{.rows = 1, .depth = 32, .values = {}, .scales = {}};

  std::string reason() {
    view.values = values;
    view.scales = scales;
    return can_use_nvfp4(view).reason;
  }
};

TEST(Nvfp4Codes, AreRefusedWithAReason) {
  EXPECT_EQ(Codes().reason(), "");
  Codes codes;
  codes.scales[1] = 0xB8;
  EXPECT_EQ(codes.reason(), "scale 1 has the code 184, which is negative; scales are non-negative numbers");
  codes.scales[1] = 0x7F;
  EXPECT_EQ(codes.reason(), "scale 1 has the code 127, which is NaN; scales are non-negative numbers");
  codes.scales[1] = 0xFF;
  EXPECT_EQ(codes.reason(), "scale 1 has the code 255, which is NaN; scales are non-negative numbers");
  codes = {};
  codes.scales.pop_back();
  EXPECT_EQ(codes.reason(), "the codes have 16 bytes of values and 1 of scales; their shape needs 16 and 2");
  codes = {};
  codes.view.depth = 24;
  EXPECT_EQ(codes.reason(), "rows of 24 elements are not whole blocks of 16");
  for (const float scale :
       {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    codes = {};
    codes.view.tensor_scale = scale;
    EXPECT_EQ(codes.reason(), "the tensor scale is not a positive number");
  }
}

TEST(Nvfp4Codes, OfEvery256ScaleCodes127AreAccepted) {
  unsigned accepted = 0;
  for (unsigned code = 0; code < 256; ++code) {
    Codes codes;
    codes.scales[0] = static_cast<std::uint8_t>(code);
    accepted += codes.reason().empty() ? 1 : 0;
  }
  EXPECT_EQ(accepted, 127u);
}

TEST(NativeNvfp4, IsInTheTensorCoresFrom100On) {
  for (const ArchitectureTraits& traits : kArchitectures)
    EXPECT_EQ(has_native_nvfp4(traits), traits.compute_capability >= 100) << traits.name;
  EXPECT_FALSE(has_native_nvfp4(traits_for(90)));
}

TEST(LoadedWeight, RunsAsTheOneItWasQuantisedFrom) {
  test::RecordingExecutor executor;
  test::GuardedTensor dense({16, 32}), x({2, 32}), a({2, 16}), b({2, 16});
  std::uint16_t number = 0x3C00;
  for (std::uint16_t& bits : dense.elements())
    bits = number = static_cast<std::uint16_t>(number * 5 % 0x4000 | 0x3000);
  std::ranges::fill(x.elements(), std::uint16_t{0x3F80});
  const Nvfp4Weight quantised = executor.quantise_weight(dense.description);
  const Nvfp4Codes codes{.rows = 16,
                         .depth = 32,
                         .values = {quantised.matrix.values, 256},
                         .scales = {quantised.matrix.scales, 32},
                         .tensor_scale = *quantised.matrix.tensor_scale};
  executor.linear_nvfp4(x.description, quantised, a.description);
  executor.linear_nvfp4(x.description, executor.load_weight(codes, HalfType::bf16), b.description);
  EXPECT_TRUE(std::ranges::equal(a.elements(), b.elements()));
  EXPECT_TRUE(std::ranges::none_of(a.elements(), [](std::uint16_t bits) { return bits == test::kUntouched; }));
}

}  // namespace
}  // namespace bitproof::kernels
