#include "reference/linear/tensor_core.h"

#include <cstdint>
#include <fstream>
#include <limits>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include "conformance/linear/exact_step.h"
#include "tests/reference/linear/distributions.h"

namespace bitproof::reference {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

template <Half T>
std::uint32_t step_bits(const std::vector<float>& a, const std::vector<float>& b, float c) {
  return float_bits(tensor_core_step(kTensorCoreFormat<T>, std::span(a), std::span(b), c));
}

// One line of tensor_core_blocks.txt.
struct RecordedBlock {
  std::string format, instruction;
  std::vector<std::uint16_t> a, b;
  std::uint32_t c = 0, d = 0;
};

std::vector<RecordedBlock> recorded_blocks() {
  std::ifstream file(BITPROOF_FIXTURES "/oracles/tensor_core_blocks.txt");
  std::vector<RecordedBlock> blocks;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream fields(line);
    RecordedBlock block;
    std::size_t count = 0;
    std::string distribution;
    fields >> block.format >> count >> block.instruction >> distribution >> std::hex;
    block.a.resize(count);
    block.b.resize(count);
    for (std::uint16_t& bits : block.a) fields >> bits;
    for (std::uint16_t& bits : block.b) fields >> bits;
    fields >> block.c >> block.d;
    EXPECT_TRUE(static_cast<bool>(fields)) << line;
    blocks.push_back(block);
  }
  return blocks;
}

template <Half T>
std::uint32_t predicted(const RecordedBlock& block) {
  std::vector<T> a, b;
  for (const std::uint16_t bits : block.a) a.push_back(T{bits});
  for (const std::uint16_t bits : block.b) b.push_back(T{bits});
  return float_bits(tensor_core_step(std::span<const T>(a), std::span<const T>(b), float_from_bits(block.c)));
}

TEST(TensorCoreStep, EqualsTheRecordedHardware) {
  std::map<std::string, int> tested;
  for (const RecordedBlock& block : recorded_blocks()) {
    EXPECT_EQ(block.format == "bf16" ? predicted<Bf16>(block) : predicted<Fp16>(block), block.d)
        << block.instruction << " block " << tested[block.instruction];
    ++tested[block.instruction];
  }
  const std::map<std::string, int> expected{{"mma.m16n8k8.bf16", 352},    {"mma.m16n8k16.bf16", 352},
                                            {"wgmma.m64n8k16.bf16", 352}, {"mma.m16n8k8.f16", 352},
                                            {"mma.m16n8k16.f16", 352},    {"wgmma.m64n8k16.f16", 352}};
  EXPECT_EQ(tested, expected);
}

TEST(TensorCoreStep, CutsEachTermBelowTwoToTheMinus25OfTheLargest) {
  // E = 0. Each 2^-13 * 2^-13 = 2^-26 is below the unit 2^-25 and vanishes, though two of them would make one
  // unit.
  EXPECT_EQ(step_bits<Bf16>({1, 0x1p-13f, 0x1p-13f, -1}, {1, 0x1p-13f, 0x1p-13f, 1}, 0), 0x00000000u);
  // 2^-12 * 2^-13 = 2^-25 is one unit and survives the cancellation of 1 - 1.
  EXPECT_EQ(step_bits<Bf16>({1, 0x1p-12f, -1}, {1, 0x1p-13f, 1}, 0), 0x33000000u);
  // -2^-26 vanishes as well: toward zero, not downward.
  EXPECT_EQ(step_bits<Bf16>({1, -0x1p-13f, -1}, {1, 0x1p-13f, 1}, 0), 0x00000000u);
}

TEST(TensorCoreStep, DoesNotRenormaliseProducts) {
  // 1.5 * 1.5 = 2.25 has E = 0, so that 2^-25 is kept.
  EXPECT_EQ(step_bits<Fp16>({1.5f, 0x1p-12f, -1.5f}, {1.5f, 0x1p-13f, 1.5f}, 0), 0x33000000u);
  // As c, -2.25 has E = 1: the unit is 2^-24 and 2^-25 vanishes.
  EXPECT_EQ(step_bits<Fp16>({1.5f, 0x1p-12f}, {1.5f, 0x1p-13f}, -2.25f), 0x00000000u);
}

TEST(TensorCoreStep, GivesSubnormalFactorsTheLeastNormalExponent) {
  // fp16 2^-24 counts as exponent -14. With 2^10 * 1 as its partner E = 10 - 14 = -4 for 2^-14 itself, and the
  // unit 2^-29; 2^-15 * 2^-15 = 2^-30 then vanishes, which it would not under the exponent -24 + 10 = -14 (unit
  // 2^-39).
  EXPECT_EQ(step_bits<Fp16>({0x1p-24f, 0x1p-15f}, {0x1p10f, 0x1p-15f}, -0x1p-14f), 0x00000000u);
  EXPECT_EQ(step_bits<Fp16>({0x1p-14f, 0x1p-15f}, {0x1p0f, 0x1p-15f}, -0x1p-14f), 0x30800000u);
}

TEST(TensorCoreStep, DoesNotAlignBelowTwoToTheMinus133) {
  // 143*143 + 129*159 = 40 * 2^10, both products being odd. With exponents -72 and -72, E = -144 is raised to
  // -133, and the unit 2^-158 is just fine enough: (143*143 + 129*159) * 2^-158 = 80 * 2^-149.
  EXPECT_EQ(step_bits<Bf16>({143 * 0x1p-79f, 129 * 0x1p-79f}, {143 * 0x1p-79f, 159 * 0x1p-79f}, 0), 80u);
  // With exponents -72 and -73 the lowest bits are 2^-159 and vanish: less than 40 * 2^-149 remain.
  EXPECT_EQ(step_bits<Bf16>({143 * 0x1p-79f, 129 * 0x1p-79f}, {143 * 0x1p-80f, 159 * 0x1p-80f}, 0), 39u);
}

TEST(TensorCoreStep, ReachesSubnormalResultsButNoNegativeZero) {
  EXPECT_EQ(step_bits<Bf16>({-0x1p-100f}, {0x1p-35f}, 0), 0x80000000u | 1u << 14);
  EXPECT_EQ(step_bits<Bf16>({-0x1p-100f}, {0x1p-50f}, 0), 0x00000000u);
}

TEST(TensorCoreStep, CutsTheSumTowardZero) {
  // 1 + 2^-23 - 2^-24 lies between 1 and 1 + 2^-23 (a tie under rounding to nearest).
  EXPECT_EQ(step_bits<Fp16>({0x1p-12f}, {-0x1p-12f}, 0x1.000002p0f), 0x3F800000u);
  EXPECT_EQ(step_bits<Fp16>({0x1p-12f}, {0x1p-12f}, -0x1.000002p0f), 0xBF800000u);
}

TEST(TensorCoreStep, OverflowsToInfinityFromTwoToThe128On) {
  EXPECT_EQ(step_bits<Bf16>({0x1p64f}, {0x1p64f}, 0), 0x7F800000u);
  EXPECT_EQ(step_bits<Bf16>({-0x1p64f}, {0x1p64f}, 0), 0xFF800000u);
  // Only the sum counts: 2^128 - 2^127 is a number.
  EXPECT_EQ(step_bits<Bf16>({0x1p64f, -0x1p63f}, {0x1p64f, 0x1p64f}, 0), 0x7F000000u);
}

TEST(TensorCoreStep, ReturnsPositiveZeroForEveryZero) {
  EXPECT_EQ(step_bits<Bf16>({}, {}, -0.0f), 0x00000000u);
  EXPECT_EQ(step_bits<Bf16>({-0.0f, 0.0f}, {1, -1}, -0.0f), 0x00000000u);
  EXPECT_EQ(step_bits<Fp16>({1, -1}, {1, 1}, -0.0f), 0x00000000u);
}

TEST(TensorCoreStep, TreatsNonFiniteTermsAsIeeeDoesWithOneNan) {
  const float nan = float_from_bits(0xFFC12345u);
  EXPECT_EQ(step_bits<Bf16>({1, kInfinity}, {1, -2}, 5), 0xFF800000u);
  EXPECT_EQ(step_bits<Bf16>({1}, {1}, kInfinity), 0x7F800000u);
  EXPECT_EQ(step_bits<Bf16>({kInfinity, kInfinity}, {1, -1}, 0), 0x7FFFFFFFu);
  EXPECT_EQ(step_bits<Bf16>({kInfinity}, {1}, -kInfinity), 0x7FFFFFFFu);
  EXPECT_EQ(step_bits<Bf16>({kInfinity}, {0}, 0), 0x7FFFFFFFu);
  EXPECT_EQ(step_bits<Bf16>({nan}, {0}, 0), 0x7FFFFFFFu);
  EXPECT_EQ(step_bits<Bf16>({1}, {1}, nan), 0x7FFFFFFFu);
}

TEST(TensorCoreStep, RefusesMoreThanSixteenProducts) {
  const std::vector<Bf16> factors(17);
  EXPECT_THROW(tensor_core_step<Bf16>(factors, factors, 0), std::invalid_argument);
  EXPECT_THROW(tensor_core_step<Bf16>(std::span(factors).first(3), std::span(factors).first(4), 0),
               std::invalid_argument);
}

// One run of the property: many steps, each operand from a distribution of its own.
template <Half T>
void expect_exact_arithmetic() {
  const auto of_a = *rc::gen::elementOf(test::kDistributions);
  const auto of_b = *rc::gen::elementOf(test::kDistributions);
  test::Sampler<T> sample_a(of_a, *rc::gen::arbitrary<std::uint64_t>());
  test::Sampler<T> sample_b(of_b, *rc::gen::arbitrary<std::uint64_t>());
  for (int repetition = 0; repetition < 100; ++repetition) {
    const std::size_t count = repetition % 2 == 0 ? 16 : 8;
    const std::vector<T> a = sample_a.vector(count), b = sample_b.vector(count);
    float c = sample_a.accumulator();
    // Every fourth time, c cancels the products up to its own rounding.
    if (repetition % 4 == 3) c = -tensor_core_step<T>(a, b, 0);
    RC_ASSERT(float_bits(tensor_core_step<T>(a, b, c)) == float_bits(conformance::exact_step<T>(a, b, c)));
  }
}

RC_GTEST_PROP(TensorCoreStep, EqualsExactArithmeticInBf16, ()) { expect_exact_arithmetic<Bf16>(); }
RC_GTEST_PROP(TensorCoreStep, EqualsExactArithmeticInFp16, ()) { expect_exact_arithmetic<Fp16>(); }

}  // namespace
}  // namespace bitproof::reference
