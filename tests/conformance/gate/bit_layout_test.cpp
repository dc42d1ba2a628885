#include "conformance/gate/bit_layout.h"

#include <gtest/gtest.h>

namespace bitproof::conformance {
namespace {

void expect_fields(const char* dtype, const char* hex, const char* sign, const char* exponent,
                   const char* significand) {
  const std::optional<BitLayout> layout = layout_of(dtype);
  ASSERT_TRUE(layout);
  const std::optional<BitFields> fields = fields_of(hex, *layout);
  ASSERT_TRUE(fields) << hex;
  EXPECT_EQ(fields->sign, sign);
  EXPECT_EQ(fields->exponent, exponent);
  EXPECT_EQ(fields->significand, significand);
}

TEST(BitLayout, SplitsEachFormat) {
  // 0xb018 = 1011 0000 0001 1000: bf16 has 8 exponent bits, fp16 has 5.
  expect_fields("bf16", "0xb018", "1", "01100000", "0011000");
  expect_fields("fp16", "0xb018", "1", "01100", "0000011000");
  expect_fields("fp32", "0x3f800001", "0", "01111111", "00000000000000000000001");
  expect_fields("bf16", "0x0001", "0", "00000000", "0000001");
}

TEST(BitLayout, RefusesWhatDoesNotFit) {
  for (const char* hex : {"0x10000", "b018", "0x", "", "0xzz"})
    EXPECT_FALSE(fields_of(hex, *layout_of("bf16"))) << hex;
  EXPECT_FALSE(layout_of("int8"));
}

}  // namespace
}  // namespace bitproof::conformance
