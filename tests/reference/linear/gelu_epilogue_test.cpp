#include "reference/linear/gelu_epilogue.h"

#include <cstdint>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/linear/epilogue_difference.h"
#include "reference/profile.h"

namespace bitproof::reference {
namespace {

// Entry i of the table is the result for the input whose bits are i.
template <Half T>
std::vector<T> recorded_table(const std::string& name) {
  std::ifstream file(BITPROOF_FIXTURES "/oracles/" + name, std::ios::binary);
  std::vector<T> table;
  for (char bytes[2]; file.read(bytes, 2);)
    table.push_back(T{static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[0]) |
                                                 static_cast<unsigned char>(bytes[1]) << 8)});
  EXPECT_EQ(table.size(), 65536u) << name;
  return table;
}

template <Half T>
std::uint16_t epilogue_bits(float accumulator) {
  return gelu_epilogue<T>(accumulator).bits;
}

template <Half T>
void expect_the_recorded_table(const std::string& name) {
  const std::vector<T> recorded = recorded_table<T>(name);
  std::uint32_t tested = 0;
  for (std::uint32_t bits = 0; bits < recorded.size(); ++bits) {
    const T input{static_cast<std::uint16_t>(bits)};
    if (!is_finite(input)) continue;  // the table holds nothing of use there
    EXPECT_EQ(gelu_epilogue<T>(widen(input)), recorded[bits]) << "input bits " << bits;
    ++tested;
  }
  EXPECT_EQ(tested, 2u * kPositiveInfinity<T>.bits);
}

TEST(GeluEpilogue, EqualsTheRecordedTableOnEveryFiniteBf16) {
  expect_the_recorded_table<Bf16>("cublaslt_gelu_epilogue_bf16.bin");
}

TEST(GeluEpilogue, EqualsTheRecordedTableOnEveryFiniteFp16) {
  expect_the_recorded_table<Fp16>("cublaslt_gelu_epilogue_fp16.bin");
}

TEST(GeluEpilogue, GivesPositiveZeroInTheNegativeTail) {
  // tanh is -1 there, and x + x * -1 is +0; eager's 0.5 * x * (1 + -1) is -0.
  EXPECT_EQ(epilogue_bits<Bf16>(-8.0f), 0x0000);
  EXPECT_EQ(epilogue_bits<Fp16>(-8.0f), 0x0000);
  // -0 itself: fma(-0, tanh(-0), -0) = +0 + -0.
  EXPECT_EQ(epilogue_bits<Bf16>(-0.0f), 0x0000);
}

TEST(GeluEpilogue, OverflowsFromTwoToThe127On) {
  // 2^127 + 2^127 overflows before it is halved.
  EXPECT_EQ(epilogue_bits<Bf16>(0x1p127f), 0x7F80);
  EXPECT_EQ(epilogue_bits<Bf16>(0x1.fep126f), 0x7EFF);
}

TEST(GeluEpilogue, FollowsItsFormulaOnNonFiniteAccumulators) {
  EXPECT_EQ(epilogue_bits<Bf16>(INFINITY), 0x7F80);
  EXPECT_EQ(epilogue_bits<Bf16>(-INFINITY), 0x7FFF);  // -inf + -inf * -1
  EXPECT_EQ(epilogue_bits<Fp16>(float_from_bits(0xFFC00000u)), 0x7FFF);
}

template <Half T>
std::map<EpilogueDifference, int> differences_from_eager() {
  std::map<EpilogueDifference, int> counts;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T input{static_cast<std::uint16_t>(bits)};
    if (is_finite(input)) ++counts[compare_epilogue<T>(widen(input), kPytorch211Cuda).difference];
  }
  return counts;
}

// The counts that were measured on the H200: 16,091 and 14,040 signs of zero, 188 and 645 other finite inputs.
// On these accumulators there is no rounding to skip.
TEST(EpilogueDifference, CountsTheKnownMismatchesInBf16) {
  const std::map<EpilogueDifference, int> expected{{EpilogueDifference::none, 65280 - 16091 - 188},
                                                   {EpilogueDifference::zero_sign, 16091},
                                                   {EpilogueDifference::overflow, 128},
                                                   {EpilogueDifference::different_gelu, 60}};
  EXPECT_EQ(differences_from_eager<Bf16>(), expected);
}

TEST(EpilogueDifference, CountsTheKnownMismatchesInFp16) {
  const std::map<EpilogueDifference, int> expected{{EpilogueDifference::none, 63488 - 14040 - 645},
                                                   {EpilogueDifference::zero_sign, 14040},
                                                   {EpilogueDifference::different_gelu, 645}};
  EXPECT_EQ(differences_from_eager<Fp16>(), expected);
}

TEST(EpilogueDifference, RecognisesASumThatOverflowsWhenItIsRounded) {
  // -70000 is -inf in fp16, and eager GELU of -inf a NaN; the epilogue sees the FP32 sum.
  const EpiloguePair<Fp16> pair = compare_epilogue<Fp16>(-70000.0f, kPytorch211Cuda);
  EXPECT_EQ(pair.eager.bits, 0x7FFF);
  EXPECT_EQ(pair.epilogue.bits, 0x0000);
  EXPECT_EQ(pair.difference, EpilogueDifference::overflow);
}

TEST(EpilogueDifference, RecognisesASkippedRoundingBoundary) {
  // 1 + 2^-8 is a tie in bf16 and rounds to 1.0 for eager GELU: 0x3F57. GELU of the sum itself is 0x3F58.
  const auto pair = compare_epilogue<Bf16>(1.0f + 0x1p-8f, kPytorch211Cuda);
  EXPECT_EQ(pair.eager.bits, 0x3F57);
  EXPECT_EQ(pair.epilogue.bits, 0x3F58);
  EXPECT_EQ(pair.difference, EpilogueDifference::rounding_boundary_skipped);
}

}  // namespace
}  // namespace bitproof::reference
