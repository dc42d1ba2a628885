// The two formats of NVFP4 and their product, all of it enumerated; ml_dtypes' tables are the outside check.
#include "reference/nvfp4/formats.h"

#include <cstdint>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

// FP32 bits by code, from fixtures/nvfp4/codes_*.csv: "code,0xbits".
std::vector<std::uint32_t> published_values(const std::string& format) {
  std::ifstream stream(std::string(BITPROOF_FIXTURES) + "/nvfp4/codes_" + format + ".csv");
  std::vector<std::uint32_t> values;
  for (std::string line; std::getline(stream, line);)
    if (!line.starts_with('#'))
      values.push_back(static_cast<std::uint32_t>(std::stoul(line.substr(line.find(',') + 1), nullptr, 16)));
  return values;
}

// The code by the bits of a bf16 number, from fixtures/nvfp4/from_bf16_*.bin.
std::vector<std::uint8_t> published_conversions(const std::string& format) {
  std::ifstream stream(std::string(BITPROOF_FIXTURES) + "/nvfp4/from_bf16_" + format + ".bin",
                       std::ios::binary);
  std::vector<std::uint8_t> codes(65536);
  stream.read(reinterpret_cast<char*>(codes.data()), 65536);
  EXPECT_EQ(stream.gcount(), 65536);
  return codes;
}

TEST(E2m1, All16CodesHaveThePublishedValues) {
  const std::vector<std::uint32_t> published = published_values("e2m1");
  ASSERT_EQ(published.size(), 16u);
  for (std::uint8_t code = 0; code < 16; ++code)
    EXPECT_EQ(float_bits(widen(E2m1{code})), published[code]) << int{code};
}

TEST(E4m3, All256CodesHaveThePublishedValues) {
  const std::vector<std::uint32_t> published = published_values("e4m3");
  ASSERT_EQ(published.size(), 256u);
  for (unsigned code = 0; code < 256; ++code) {
    const E4m3 value{static_cast<std::uint8_t>(code)};
    EXPECT_EQ(is_nan(value), is_nan_bits(published[code])) << code;
    if (!is_nan(value)) {
      EXPECT_EQ(float_bits(widen(value)), published[code]) << code;
    }
  }
}

TEST(E2m1, EveryBf16NumberRoundsAsPublished) {
  const std::vector<std::uint8_t> published = published_conversions("e2m1");
  for (const Bf16 x : all_values<Bf16>())
    if (!is_nan(x)) {
      EXPECT_EQ(round_to_e2m1(widen(x)).bits, published[x.bits]) << x;
    }
}

TEST(E4m3, EveryNonNegativeBf16NumberRoundsAsPublishedUpTo448AndSaturatesBeyond) {
  // ml_dtypes gives NaN from above 464 on, half a unit beyond the largest number; a scale saturates.
  const std::vector<std::uint8_t> published = published_conversions("e4m3");
  std::size_t saturated = 0;
  for (std::uint16_t bits = 0; bits <= kPositiveInfinity<Bf16>.bits; ++bits) {
    const bool beyond = published[bits] == 0x7F;
    EXPECT_EQ(round_to_scale(widen(Bf16{bits})).bits, beyond ? kLargestE4m3.bits : published[bits])
        << Bf16{bits};
    saturated += beyond ? 1u : 0u;
  }
  EXPECT_EQ(saturated, kPositiveInfinity<Bf16>.bits - 0x43E8u);  // 464 = 0x43E8 ties to 448
}

TEST(E2m1, ANanGivesTheLargestNumberAsTheHardwareConversionDoes) {
  EXPECT_EQ(round_to_e2m1(float_from_bits(0x7FC00000)).bits, 0x7);
  EXPECT_EQ(round_to_e2m1(float_from_bits(0xFFC00000)).bits, 0x7);
}

TEST(E2m1, TiesGoToTheEvenCodeAndZerosKeepTheirSign) {
  struct Tie {
    float value;
    std::uint8_t code;
  };
  // Halfway between neighbours; the even code is the one whose fraction bit is 0.
  for (const Tie tie :
       {Tie{0.25f, 0}, Tie{0.75f, 2}, Tie{1.25f, 2}, Tie{1.75f, 4}, Tie{2.5f, 4}, Tie{3.5f, 6}, Tie{5, 6}}) {
    EXPECT_EQ(round_to_e2m1(tie.value).bits, tie.code) << tie.value;
    EXPECT_EQ(round_to_e2m1(-tie.value).bits, tie.code | 0x8) << tie.value;
  }
  EXPECT_EQ(round_to_e2m1(0.0f).bits, 0x0);
  EXPECT_EQ(round_to_e2m1(-0.0f).bits, 0x8);
}

TEST(Scale, Exactly127Of256CodesAreOne) {
  unsigned scales = 0;
  for (unsigned code = 0; code < 256; ++code) scales += is_scale(E4m3{static_cast<std::uint8_t>(code)}) ? 1 : 0;
  EXPECT_EQ(scales, 127u);
  EXPECT_FALSE(is_scale(E4m3{0x7F})) << "NaN";
  EXPECT_FALSE(is_scale(E4m3{0x80})) << "-0 has a sign";
  EXPECT_FALSE(is_scale(E4m3{0xFF})) << "NaN";
}

// All 16 x 256 pairs of codes: of those whose scale is one, the product of the published values, in double, is
// the number that T holds.
template <Half T>
void expect_exact_products() {
  const std::vector<std::uint32_t> values = published_values("e2m1"), scales = published_values("e4m3");
  unsigned enumerated = 0, exact = 0;
  for (std::uint8_t value = 0; value < 16; ++value) {
    for (unsigned code = 0; code < 256; ++code) {
      ++enumerated;
      const E4m3 scale{static_cast<std::uint8_t>(code)};
      if (!is_scale(scale)) continue;
      const double expected = static_cast<double>(float_from_bits(values[value])) *
                              static_cast<double>(float_from_bits(scales[code]));
      const T got = product<T>(E2m1{value}, scale);
      EXPECT_EQ(static_cast<double>(widen(got)), expected) << int{value} << ' ' << code;
      EXPECT_EQ(sign_bit(got), value >= 8);
      EXPECT_TRUE(classify(got) == NumberClass::normal || classify(got) == NumberClass::zero);
      ++exact;
    }
  }
  EXPECT_EQ(enumerated, 4096u);
  EXPECT_EQ(exact, 16u * 127u);
}

TEST(Product, Of16ValuesAnd256ScalesIsExactInBf16) { expect_exact_products<Bf16>(); }
TEST(Product, Of16ValuesAnd256ScalesIsExactInFp16) { expect_exact_products<Fp16>(); }

TEST(Product, LiteralBits) {
  EXPECT_EQ(product<Bf16>({0x7}, {0x7E}).bits, 0x4528);  // 6 * 448 = 2688 = 1.3125 * 2^11
  EXPECT_EQ(product<Fp16>({0x7}, {0x7E}).bits, 0x6940);
  EXPECT_EQ(product<Bf16>({0x1}, {0x01}).bits, 0x3A80);  // 0.5 * 2^-9 = 2^-10
  EXPECT_EQ(product<Fp16>({0x1}, {0x01}).bits, 0x1400);
  EXPECT_EQ(product<Bf16>({0xD}, {0x3D}).bits, 0xC09C);  // -3 * 1.625 = -4.875 = -1.21875 * 2^2
}

}  // namespace
}  // namespace bitproof::reference
