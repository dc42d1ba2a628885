// The eager boundary, one literal at a time.
#include <cstdint>
#include <initializer_list>

#include <gtest/gtest.h>

#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

Bf16 bf16(std::uint16_t x, std::uint16_t bias) { return bias_gelu_tanh(Bf16{x}, Bf16{bias}, kPytorch211Cuda); }
Fp16 fp16(std::uint16_t x, std::uint16_t bias) { return bias_gelu_tanh(Fp16{x}, Fp16{bias}, kPytorch211Cuda); }

TEST(BiasGeluTanh, RoundsTheSumBeforeGelu) {
  // 1 + 2^-8 is a tie in bf16 and goes to even, 1: gelu(1) = 0.8412 = 0x3F57. Unrounded it would give 0x3F58.
  EXPECT_EQ(bf16(0x3F80, 0x3B80), Bf16{0x3F57});
  EXPECT_EQ(gelu_tanh(Bf16{0x3F80}, kPytorch211Cuda), Bf16{0x3F57});
  EXPECT_EQ(round_to<Bf16>(gelu_tanh_fp32(1.0f + 0x1p-8f, kPytorch211Cuda)), Bf16{0x3F58});
  // (1 + 2^-7) + 2^-8 is a tie and goes to even, up: 1 + 2^-6.
  EXPECT_EQ(bf16(0x3F81, 0x3B80), Bf16{0x3F5C});
  EXPECT_EQ(gelu_tanh(Bf16{0x3F82}, kPytorch211Cuda), Bf16{0x3F5C});
  // 1 + 2^-11 is a tie in fp16 and goes to even, 1.
  EXPECT_EQ(fp16(0x3C00, 0x1000), Fp16{0x3ABB});
  EXPECT_EQ(gelu_tanh(Fp16{0x3C00}, kPytorch211Cuda), Fp16{0x3ABB});
}

TEST(BiasGeluTanh, OverflowsWhereTheSumIsRounded) {
  // -65504 - 16 is the tie between the largest fp16 and 65536: to even, -inf, and gelu(-inf) = -inf * 0 is a
  // NaN.
  EXPECT_EQ(fp16(0xFBFF, 0xCC00), Fp16{0x7FFF});
  // The next smaller bias, -15.992, stays finite: 0.5*x * (1 + tanh) = -32752 * 0.
  EXPECT_EQ(fp16(0xFBFF, 0xCBFF), Fp16{0x8000});
  // bf16's largest number has the ULP 2^120; 0xFB00 is -2^119.
  EXPECT_EQ(bf16(0xFF7F, 0xFB00), Bf16{0x7FFF});
  EXPECT_EQ(bf16(0xFF7F, 0xFAFF), Bf16{0x8000});
  // Towards +inf GELU is the identity.
  EXPECT_EQ(fp16(0x7BFF, 0x4C00), Fp16{0x7C00});
  EXPECT_EQ(fp16(0x7BFF, 0x4BFF), Fp16{0x7BFF});
  EXPECT_EQ(bf16(0x7F7F, 0x7B00), Bf16{0x7F80});
  EXPECT_EQ(bf16(0x7F7F, 0x7AFF), Bf16{0x7F7F});
}

TEST(BiasGeluTanh, InfinitiesAndTheirDifference) {
  EXPECT_EQ(bf16(0x7F80, 0x8000), Bf16{0x7F80});
  EXPECT_EQ(bf16(0xFF80, 0x8000), Bf16{0x7FFF});
  EXPECT_EQ(bf16(0x7F80, 0xFF80), Bf16{0x7FFF});
  EXPECT_EQ(fp16(0x7C00, 0x7C00), Fp16{0x7C00});
  EXPECT_EQ(fp16(0xFC00, 0x7C00), Fp16{0x7FFF});
}

TEST(BiasGeluTanh, NegativeTailIsQuantised) {
  // Near -1, tanh is a multiple of 2^-24, so y = 0.5*|x| * k * 2^-24.
  EXPECT_EQ(bf16(0xC09C, 0x8000), Bf16{0xB51C});  // x = -4.875, k = 4: 2.4375 * 2^-22 = 1.21875 * 2^-21
  EXPECT_EQ(bf16(0xC0A0, 0x8000), Bf16{0xB4A0});  // x = -5, k = 2: 2.5 * 2^-23 = 1.25 * 2^-22
  EXPECT_EQ(bf16(0xC0A6, 0x8000), Bf16{0x8000});  // x = -5.1875, k = 0
  EXPECT_EQ(fp16(0xC529, 0x8000), Fp16{0x8000});  // x = -5.16015625, k = 0
}

TEST(BiasGeluTanh, NegativeTailEndsInNegativeZero) {
  for (std::uint16_t bits = 0xC0A6; bits < 0xFF80; ++bits) EXPECT_EQ(bf16(bits, 0x8000), Bf16{0x8000});
  for (std::uint16_t bits = 0xC529; bits < 0xFC00; ++bits) EXPECT_EQ(fp16(bits, 0x8000), Fp16{0x8000});
  EXPECT_NE(bf16(0xC0A5, 0x8000), Bf16{0x8000});
  EXPECT_NE(fp16(0xC528, 0x8000), Fp16{0x8000});
}

TEST(BiasGeluTanh, KeepsSubnormals) {
  // gelu(x) = x/2 for tiny x.
  EXPECT_EQ(bf16(0x0080, 0x8000), Bf16{0x0040});
  EXPECT_EQ(bf16(0x0003, 0x8000), Bf16{0x0002});  // 1.5 subnormals: a tie, to even
  EXPECT_EQ(bf16(0x0002, 0x8000), Bf16{0x0001});
  EXPECT_EQ(bf16(0x0001, 0x8000), Bf16{0x0000});  // 0.5 subnormals: a tie, to even
  EXPECT_EQ(fp16(0x0002, 0x8000), Fp16{0x0001});
  // A sum of normal numbers that is subnormal: 1.5*2^-126 - 2^-126 = 2^-127, half of it 2^-128.
  EXPECT_EQ(bf16(0x00C0, 0x8080), Bf16{0x0020});
}

TEST(BiasGeluTanh, SignsOfZero) {
  EXPECT_EQ(bf16(0x8000, 0x8000), Bf16{0x8000});
  EXPECT_EQ(bf16(0x8000, 0x0000), Bf16{0x0000});
  EXPECT_EQ(bf16(0x0000, 0x8000), Bf16{0x0000});
  EXPECT_EQ(fp16(0x3C00, 0xBC00), Fp16{0x0000});  // x - x is +0
}

TEST(BiasGeluTanh, OfThreeInputsThatApproximationsGetWrong) {
  // Where a fused form with m = |x * fma(b, x*x, a)| differs; the recorded results.
  const auto recorded = oracle<std::uint16_t>("gelu_tanh_fp16.bin");
  for (const std::uint16_t x : std::initializer_list<std::uint16_t>{0x0E55, 0x8E55, 0xB5A7})
    EXPECT_EQ(fp16(x, 0x8000), Fp16{recorded[x]});
  EXPECT_EQ(fp16(0xB5A7, 0x8000), Fp16{0xB018});
}

}  // namespace
}  // namespace bitproof::reference
