// The special-function unit: results derived by hand from the tables, special values, and facts measured on an
// H200. What the hardware says enters through the recorded tables: gelu_tanh_fp32_from_* holds ex2 and rcp to
// account (in gelu_test.cpp), cublaslt_gelu_epilogue_* tanh.
#include "reference/sfu.h"

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/sfu_half.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

using UnitFunction = float (*)(float);

// bits -> bits
std::uint32_t apply(UnitFunction function, std::uint32_t bits) {
  return float_bits(function(float_from_bits(bits)));
}

constexpr std::uint32_t kInf = 0x7F800000u;
constexpr std::uint32_t kMinusInf = 0xFF800000u;
constexpr std::uint32_t kNan = 0x7FFFFFFFu;

// As the text of the rule has it: a sum over pairs of bits.
std::uint32_t square_bit_by_bit(std::uint32_t x) {
  std::uint32_t sum = 0;
  for (std::uint32_t i = 0; i < 17; ++i) {
    for (std::uint32_t j = 0; j < 17; ++j) {
      if (i + j >= 18) sum += (x >> i & 1) * (x >> j & 1) << (i + j - 18);
    }
  }
  return sum >> 1;
}

TEST(TruncatedSquare, EqualsItsDefinitionForEvery17BitNumber) {
  for (std::uint32_t x = 0; x < 1u << 17; ++x) ASSERT_EQ(sfu::truncated_square(x), square_bit_by_bit(x)) << x;
  EXPECT_EQ(sfu::truncated_square(0x1FFFF), 32759);  // 2^34 / 2^19 = 32768 without truncation
}

TEST(Tables, AreThoseOfTheFixtures) {
  // The tanh table's first two columns are the binade and the segment in it: the rows are where kTanhBinades
  // says.
  std::ifstream stream(std::string(BITPROOF_FIXTURES) + "/special_function_unit/tanh.csv");
  std::string line;
  ASSERT_TRUE(std::getline(stream, line));
  EXPECT_EQ(line, "exp,seg,C0,C1,C2");
  std::size_t row = 0;
  while (std::getline(stream, line)) {
    std::array<int, 5> columns{};
    std::size_t begin = 0;
    for (int& column : columns) {
      std::size_t used = 0;
      column = std::stoi(line.substr(begin), &used);
      begin += used + 1;
    }
    const auto binade = sfu::kTanhBinades.at(static_cast<std::size_t>(columns[0] - sfu::kTanhFirstExponent));
    EXPECT_EQ(binade.first_segment + static_cast<std::uint32_t>(columns[1]), row);
    EXPECT_LT(columns[1], 1 << binade.log2_segments);
    EXPECT_EQ(sfu::k_tanh_segments.at(row).c0, columns[2]);
    EXPECT_EQ(sfu::k_tanh_segments.at(row).c1, columns[3]);
    EXPECT_EQ(sfu::k_tanh_segments.at(row).c2, columns[4]);
    ++row;
  }
  EXPECT_EQ(row, sfu::k_tanh_segments.size());
}

// Where a function masks its significand to the fraction it may drop the hidden bit only.
template <class Interpolator>
void expect_significands(const Interpolator& interpolate, int shift, std::uint32_t first, std::uint32_t end) {
  for (std::uint32_t argument = first; argument < end; ++argument) {
    const std::int64_t significand = interpolate(argument) >> shift;
    ASSERT_TRUE(significand >= 1 << 23 && significand < 1 << 24) << argument;
  }
}

TEST(Tables, GiveSignificandsBetweenOneAndTwoForEveryArgument) {
  expect_significands(sfu::kEx2, 15, 0, 1u << 23);
  expect_significands(sfu::kRsqrt, 16, 1, 1u << 24);
  expect_significands(sfu::kSqrt, 17, 0, 1u << 24);
}

TEST(Ex2, HandDerivedResults) {
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0x00000000), 0x3F800000u);
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0x3F800000), 0x40000000u);  // 2^1
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0xBF800000), 0x3F000000u);  // 2^-1
  // 2^(1/64): row 1, x = 0: (33919815*2^13 + 0x77E2) >> 15 = 0x8164D2.
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0x3C800000), 0x3F8164D2u);
  // 2^0.5: row 32, x = 0: (47453132*2^13 + 0x77E2) >> 15 = 0xB504F3.
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0x3F000000), 0x3FB504F3u);
  // -2^-23: integer part -1; the one's complement of one unit is row 63, x = 0x1FFFE, one unit less than -2^-23
  // + 1.
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0xB4000000), 0x3F7FFFFEu);
  // -2^-24 is less than a unit: truncated to 0.
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0xB3800000), 0x3F800000u);
}

TEST(Ex2, SpecialValues) {
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, kInf), kInf);
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, kMinusInf), 0u);
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0x43000000), kInf);         // 128
  EXPECT_NE(apply(sfu::ex2_approx_ftz, 0x42FFFFFF), kInf);         // just below
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0xC2FC0000), 0x00800000u);  // -126
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0xC2FC0001), 0u);           // below: flushed
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0x007FFFFF), 0x3F800000u);
  EXPECT_EQ(apply(sfu::ex2_approx_ftz, 0x80000001), 0x3F800000u);
  // Without ftz: -127 is halved, 2^-63.5 squared; -149 ends at the smallest subnormal.
  EXPECT_EQ(apply(sfu::ex2_approx, 0xC3150000), 0x00000001u);
  EXPECT_EQ(apply(sfu::ex2_approx, 0xC3000000), 0x00200000u);  // 2^-128: both factors are exact
  EXPECT_EQ(apply(sfu::ex2_approx, kMinusInf), 0u);
}

TEST(Rcp, HandDerivedResults) {
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x3F800000), 0x3F800000u);
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0xC0800000), 0xBE800000u);  // -1/4
  // 1/(1 + 2^-7): row 1, x = 0: (66588640*2^14 + 0x8FCE) >> 16 = 0xFE03F8.
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x3F810000), 0x3F7E03F8u);
  // 1/1.5: row 64, x = 0: 0xAAAAAB.
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x3FC00000), 0x3F2AAAABu);
}

TEST(Rcp, SpecialValues) {
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x00000000), kInf);
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x80000000), kMinusInf);
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x807FFFFF), kMinusInf);
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, kMinusInf), 0x80000000u);
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x7E800000), 0x00800000u);  // 2^126: the last that is not flushed
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0x7E800001), 0u);
  EXPECT_EQ(apply(sfu::rcp_approx_ftz, 0xFF7FFFFF), 0x80000000u);
  EXPECT_EQ(apply(sfu::rcp_approx, 0x7F000000), 0x00400000u);  // 2^127: a subnormal result
  EXPECT_EQ(apply(sfu::rcp_approx, 0x00400000), 0x7F000000u);  // and back
  EXPECT_EQ(apply(sfu::rcp_approx, 0x00000001), kInf);         // 2^149
  EXPECT_EQ(apply(sfu::rcp_approx, 0x80000000), kMinusInf);
  EXPECT_EQ(apply(sfu::rcp_approx, kInf), 0u);
}

TEST(TanhApprox, HandDerivedResults) {
  // 2^-8: row 0, x = 0: 65536 * 2^15 = 2^31 in units of 2^-39.
  EXPECT_EQ(apply(sfu::tanh_approx, 0x3B800000), 0x3B800000u);
  // 0.5: row 15, x = 0: 7753000 * 2^15 = 0x3B26940000, 38 bits: exponent -2, significand 0xEC9A50.
  EXPECT_EQ(apply(sfu::tanh_approx, 0x3F000000), 0x3EEC9A50u);
  // 0x3F9BFFF8: row 19 + 1, x = 0x17FFF: 461406078664, 39 bits: exponent -1, significand 0xD6DBE4.
  EXPECT_EQ(apply(sfu::tanh_approx, 0x3F9BFFF8), 0x3F56DBE4u);
}

TEST(TanhApprox, IsTheIdentityBelowTwoToTheMinusEight) {
  for (std::uint32_t bits = 0; bits < 0x3B800000u; bits += 9973) {
    ASSERT_EQ(apply(sfu::tanh_approx, bits), bits);
    ASSERT_EQ(apply(sfu::tanh_approx, bits | 0x80000000u), bits | 0x80000000u);
  }
  EXPECT_EQ(apply(sfu::tanh_approx, 0x00000001), 0x00000001u);
  EXPECT_EQ(apply(sfu::tanh_approx, 0x80000000), 0x80000000u);
  EXPECT_EQ(apply(sfu::tanh_approx, 0x3B7FFFFF), 0x3B7FFFFFu);
}

TEST(TanhApprox, IsOneFromEightOn) {
  for (const std::uint32_t bits : {0x41000000u, 0x41000001u, 0x7F7FFFFFu, kInf}) {
    EXPECT_EQ(apply(sfu::tanh_approx, bits), 0x3F800000u);
    EXPECT_EQ(apply(sfu::tanh_approx, bits | 0x80000000u), 0xBF800000u);
  }
}

RC_GTEST_PROP(TanhApproxProperty, IsOdd, ()) {
  const auto bits = any_bits<std::uint32_t>();
  RC_PRE(!is_nan_bits(bits));
  RC_ASSERT(apply(sfu::tanh_approx, bits ^ 0x80000000u) == (apply(sfu::tanh_approx, bits) ^ 0x80000000u));
}

TEST(TanhApprox, IsNotMonotone) {
  // All of [2^-8, 8].
  int downward_steps = 0;
  float previous = 0;
  for (std::uint32_t bits = 0x3B800000u; bits <= 0x41000000u; ++bits) {
    const float result = sfu::tanh_approx(float_from_bits(bits));
    downward_steps += result < previous;
    previous = result;
  }
  EXPECT_EQ(downward_steps, 26240);
}

// The error in FP32 ULPs of the exact value, which double precision stands in for.
double error_in_ulps(float got, double exact) {
  int exponent = 0;
  std::frexp(exact, &exponent);
  return std::fabs(double{got} - exact) / std::ldexp(1.0, exponent - 24);
}

TEST(TanhApprox, WorstErrorIsWhereItWasMeasured) {
  const auto error = [](std::uint32_t bits) {
    const float a = float_from_bits(bits);
    return error_in_ulps(sfu::tanh_approx(a), std::tanh(double{a}));
  };
  const double worst = error(0x3F9BFFF8u);
  EXPECT_NEAR(worst, 133.95, 0.005);
  for (std::uint32_t bits = 0x3B800000u; bits < 0x41000000u; bits += 61)
    ASSERT_LE(error(bits), worst) << std::hex << bits;
}

template <class T>
using TanhApproxOnTheCard = ForEachDtype<T>;
TYPED_TEST_SUITE(TanhApproxOnTheCard, Dtypes);

TYPED_TEST(TanhApproxOnTheCard, ExplainsTheRecordedCublasLtEpilogue) {
  // The library's GELU epilogue is built on tanh.approx: u = x * fma(0x3D12227E * x, x, 0x3F4C422A),
  // y = 0.5 * fma(x, tanh.approx(u), x). Its recorded results depend on the instruction at 65,536 points a
  // dtype.
  const auto recorded = oracle<std::uint16_t>(oracle_name<TypeParam>("cublaslt_gelu_epilogue_"));
  for (const TypeParam input : all_values<TypeParam>()) {
    if (!is_finite(input)) continue;
    const float x = widen(input);
    const float u = x * std::fma(float_from_bits(0x3D12227Eu) * x, x, float_from_bits(0x3F4C422Au));
    const float y = 0.5f * std::fma(x, sfu::tanh_approx(u), x);
    ASSERT_EQ(round_to<TypeParam>(y).bits, recorded[input.bits]) << "x = " << input;
  }
}

TEST(Rsqrt, HandDerivedResults) {
  EXPECT_EQ(apply(sfu::rsqrt_approx_ftz, 0x3F800000), 0x3F800000u);
  EXPECT_EQ(apply(sfu::rsqrt_approx_ftz, 0x40800000), 0x3F000000u);  // 1/sqrt(4)
  EXPECT_EQ(apply(sfu::rsqrt_approx_ftz, 0x3E800000), 0x40000000u);  // 1/sqrt(1/4)
  // 1/sqrt(2): odd exponent, row 64, x = 0: (47453129*2^14 + 0x7FFF) >> 16 = 0xB504F2; the nearest number is
  // ...F3.
  EXPECT_EQ(apply(sfu::rsqrt_approx_ftz, 0x40000000), 0x3F3504F2u);
}

TEST(Sqrt, HandDerivedResults) {
  EXPECT_EQ(apply(sfu::sqrt_approx_ftz, 0x40800000), 0x40000000u);
  // sqrt(2): row 64, x = 0: (47453133*2^15 + 0x7FFF) >> 17 = 0xB504F3.
  EXPECT_EQ(apply(sfu::sqrt_approx_ftz, 0x40000000), 0x3FB504F3u);
}

TEST(Roots, AreExactForPowersOfFour) {
  for (int half_exponent = -63; half_exponent <= 63; ++half_exponent) {
    const float a = std::ldexp(1.0f, 2 * half_exponent);
    EXPECT_EQ(sfu::sqrt_approx_ftz(a), std::ldexp(1.0f, half_exponent));
    EXPECT_EQ(sfu::rsqrt_approx_ftz(a), std::ldexp(1.0f, -half_exponent));
  }
  // Subnormals: 2^-148 and 2^-128.
  EXPECT_EQ(sfu::sqrt_approx(0x1p-148f), 0x1p-74f);
  EXPECT_EQ(sfu::rsqrt_approx(0x1p-148f), 0x1p74f);
  EXPECT_EQ(sfu::sqrt_approx(0x1p-128f), 0x1p-64f);
}

TEST(Roots, SpecialValues) {
  for (const UnitFunction rsqrt : {sfu::rsqrt_approx_ftz, sfu::rsqrt_approx}) {
    EXPECT_EQ(apply(rsqrt, 0x00000000), kInf);
    EXPECT_EQ(apply(rsqrt, 0x80000000), kMinusInf);
    EXPECT_EQ(apply(rsqrt, kInf), 0u);
    EXPECT_EQ(apply(rsqrt, kMinusInf), kNan);
    EXPECT_EQ(apply(rsqrt, 0xBF800000), kNan);
  }
  for (const UnitFunction sqrt : {sfu::sqrt_approx_ftz, sfu::sqrt_approx}) {
    EXPECT_EQ(apply(sqrt, 0x00000000), 0u);
    EXPECT_EQ(apply(sqrt, 0x80000000), 0x80000000u);
    EXPECT_EQ(apply(sqrt, kInf), kInf);
    EXPECT_EQ(apply(sqrt, kMinusInf), kNan);
    EXPECT_EQ(apply(sqrt, 0xBF800000), kNan);
  }
  EXPECT_EQ(apply(sfu::rsqrt_approx_ftz, 0x80000001), kMinusInf);  // flushed to -0
  EXPECT_EQ(apply(sfu::rsqrt_approx, 0x80000001), kNan);
  EXPECT_EQ(apply(sfu::sqrt_approx_ftz, 0x80000001), 0x80000000u);
  EXPECT_EQ(apply(sfu::sqrt_approx, 0x80000001), kNan);
}

TEST(Lg2, OfPowersOfTwoIsExactAboveOneAndOneNumberShortBelow) {
  // At 1.0 the table has 4 and not 0: with the bias, (4*2^12 + 0x3345) >> 2 = 7377 units of 2^-36. Added to a
  // positive exponent it is truncated away. Of a negative one, -n, it leaves n - 7378 units, which is the next
  // number towards 0, for n = 1, whose neighbour is 4096 units away, the one after.
  EXPECT_EQ(apply(sfu::lg2_approx_ftz, 0x3F800000), 0u);
  for (int n = 1; n <= 127; ++n) EXPECT_EQ(sfu::lg2_approx_ftz(std::ldexp(1.0f, n)), static_cast<float>(n));
  for (int n = 2; n <= 126; ++n) {
    EXPECT_EQ(sfu::lg2_approx_ftz(std::ldexp(1.0f, -n)), -std::nextafter(static_cast<float>(n), 0.0f)) << n;
  }
  EXPECT_EQ(apply(sfu::lg2_approx_ftz, 0x3F000000), 0xBF7FFFFEu);
  // Without ftz, 2^-149 is scaled to 2^-125: -(125 - 2^-17) - 24 is a tie and goes to even, -149.
  EXPECT_EQ(sfu::lg2_approx(0x1p-149f), -149.0f);
}

TEST(Lg2, HandDerivedResults) {
  // log2(1.5): row 32, x = 0: (39256170*2^12 + 0x3345) >> 2 = 40198321361 units of 2^-36: exponent -1,
  // 0x95C01B.
  EXPECT_EQ(apply(sfu::lg2_approx_ftz, 0x3FC00000), 0x3F15C01Bu);
  // 1 + 2^-23: (4*2^12 + 47272 + 0x3345) >> 2 = 19195 units, exact: 19195 = 0x4AFB is 15 bits, exponent 14 - 36
  // = -22.
  EXPECT_EQ(apply(sfu::lg2_approx_ftz, 0x3F800001), 0x34000000u + 0x00800000u + (0x4AFBu << 9 & 0x7FFFFFu));
}

TEST(Lg2, SpecialValues) {
  for (const UnitFunction lg2 : {sfu::lg2_approx_ftz, sfu::lg2_approx}) {
    EXPECT_EQ(apply(lg2, 0x00000000), kMinusInf);
    EXPECT_EQ(apply(lg2, 0x80000000), kMinusInf);
    EXPECT_EQ(apply(lg2, kInf), kInf);
    EXPECT_EQ(apply(lg2, kMinusInf), kNan);
    EXPECT_EQ(apply(lg2, 0xBF800000), kNan);
  }
  EXPECT_EQ(apply(sfu::lg2_approx_ftz, 0x00000001), kMinusInf);
  EXPECT_EQ(apply(sfu::lg2_approx_ftz, 0x80000001), kMinusInf);
  EXPECT_EQ(apply(sfu::lg2_approx, 0x80000001), kNan);
}

TEST(SinCos, HandDerivedResults) {
  EXPECT_EQ(apply(sfu::sin_approx_ftz, 0x00000000), 0x00000000u);
  EXPECT_EQ(apply(sfu::sin_approx_ftz, 0x80000000), 0x80000000u);
  EXPECT_EQ(apply(sfu::sin_approx_ftz, 0x80000001), 0x80000000u);
  // cos(0): a quarter of a turn, fraction 0 complemented: row 63, x = 0x1FFFF, just below 1. It is 1 minus
  // nothing that FP32 sees only if the table says so: C0 = 67088652, C1 = 632, C2 = -1265 give 0x1FFFFFA5D9 >>
  // 13, 0xFFFFFD.
  const std::int64_t sum = (std::int64_t{67088652} << 11) + 632 * 0x1FFFF - 1265 * std::int64_t{32759};
  ASSERT_EQ(sum >> 37, 1);  // the table overshoots: the result is 1 and not the number below
  EXPECT_EQ(apply(sfu::cos_approx_ftz, 0x00000000), 0x3F800000u);
}

TEST(SinCos, SpecialValues) {
  for (const UnitFunction function :
       {sfu::sin_approx_ftz, sfu::cos_approx_ftz, sfu::sin_approx, sfu::cos_approx}) {
    EXPECT_EQ(apply(function, kInf), kNan);
    EXPECT_EQ(apply(function, kMinusInf), kNan);
  }
  // From 2^25 turns on, every FP32 number is a whole number of turns for the unit: 24 significant bits,
  // truncated.
  for (const std::uint32_t bits : {0x7F7FFFFFu, 0x7149F2CAu}) {
    EXPECT_EQ(apply(sfu::sin_approx_ftz, bits), 0u);
    EXPECT_EQ(apply(sfu::cos_approx_ftz, bits), apply(sfu::cos_approx_ftz, 0));
  }
}

RC_GTEST_PROP(SinCosProperty, SineIsOddAndCosineIsEven, ()) {
  const auto bits = any_bits<std::uint32_t>();
  RC_PRE((bits & 0x7F800000u) != 0x7F800000u);
  RC_ASSERT(apply(sfu::sin_approx_ftz, bits ^ 0x80000000u) == (apply(sfu::sin_approx_ftz, bits) ^ 0x80000000u));
  RC_ASSERT(apply(sfu::cos_approx_ftz, bits ^ 0x80000000u) == apply(sfu::cos_approx_ftz, bits));
}

TEST(Unit, EveryNanGivesTheOneNan) {
  for (const UnitFunction function :
       {sfu::ex2_approx_ftz, sfu::rcp_approx_ftz, static_cast<UnitFunction>(sfu::tanh_approx),
        sfu::rsqrt_approx_ftz, sfu::sqrt_approx_ftz, sfu::lg2_approx_ftz, sfu::sin_approx_ftz,
        sfu::cos_approx_ftz, sfu::ex2_approx, sfu::rcp_approx, sfu::rsqrt_approx, sfu::sqrt_approx,
        sfu::lg2_approx, sfu::sin_approx, sfu::cos_approx}) {
    for (std::uint32_t payload = 1; payload < 1u << 23; payload += 65521) {
      ASSERT_EQ(apply(function, 0x7F800000u | payload), kNan);
      ASSERT_EQ(apply(function, 0xFF800000u | payload), kNan);
    }
  }
}

// The exact functions, for a check that no rule is off in some binade: a wrong table row, shift or sign is far
// outside these bounds, which are the model's own largest errors (reference/README.md), rounded up.
TEST(Unit, StaysCloseToTheExactFunctions) {
  for (std::uint32_t bits = 0x00800000u; bits < 0x7F800000u; bits += 4093) {
    const float a = float_from_bits(bits);
    const double exact = a;
    if (a <= 0x1p126f) {
      ASSERT_LE(error_in_ulps(sfu::rcp_approx_ftz(a), 1 / exact), 0.98) << a;
    }
    ASSERT_LE(error_in_ulps(sfu::rsqrt_approx_ftz(a), 1 / std::sqrt(exact)), 1.52) << a;
    ASSERT_LE(error_in_ulps(sfu::sqrt_approx_ftz(a), std::sqrt(exact)), 0.95) << a;
    const double log = std::log2(exact);
    const double scale = a >= 0.5f && a < 2 ? 1 : std::fabs(log);
    ASSERT_LE(std::fabs(sfu::lg2_approx_ftz(a) - log), scale * 0x1p-22) << a;
    if (a < 3.14159f) {
      ASSERT_LE(std::fabs(sfu::sin_approx_ftz(a) - std::sin(exact)), 0x1p-21) << a;
      ASSERT_LE(std::fabs(sfu::cos_approx_ftz(-a) - std::cos(exact)), 0x1p-21) << a;
    }
    if (a < 126) {
      ASSERT_LE(error_in_ulps(sfu::ex2_approx_ftz(a), std::exp2(exact)), 2.06) << a;
      ASSERT_LE(error_in_ulps(sfu::ex2_approx_ftz(-a), std::exp2(-exact)), 2.06) << a;
    }
  }
}

// Only tiny and huge arguments are scaled.
RC_GTEST_PROP(UnitProperty, FormsWithoutFtzEqualThoseWithItOnArgumentsThatAreNotScaled, ()) {
  const auto bits = any_bits<std::uint32_t>();
  RC_PRE((bits & 0x7FFFFFFFu) >= 0x00800000u && (bits & 0x7FFFFFFFu) <= 0x7E800000u);
  RC_ASSERT(apply(sfu::rcp_approx, bits) == apply(sfu::rcp_approx_ftz, bits));
  RC_ASSERT(apply(sfu::rsqrt_approx, bits) == apply(sfu::rsqrt_approx_ftz, bits));
  RC_ASSERT(apply(sfu::sqrt_approx, bits) == apply(sfu::sqrt_approx_ftz, bits));
  RC_ASSERT(apply(sfu::lg2_approx, bits) == apply(sfu::lg2_approx_ftz, bits));
  RC_ASSERT(float_from_bits(bits) < -126.0f ||
            apply(sfu::ex2_approx, bits) == apply(sfu::ex2_approx_ftz, bits));
}

TEST(UnitInHalf, TruncatesInsteadOfRounding) {
  EXPECT_EQ(sfu::truncate_to<Fp16>(float_from_bits(0x3F7FFFFF)).bits, 0x3BFF);
  EXPECT_EQ(sfu::truncate_to<Bf16>(float_from_bits(0xBF7FFFFF)).bits, 0xBF7F);
  EXPECT_EQ(sfu::truncate_to<Fp16>(-0x1.8p-24f).bits, 0x8001);
  EXPECT_EQ(sfu::truncate_to<Bf16>(float_from_bits(0x7FC00001)).bits, 0x7FFF);
  for (const Fp16 x : all_values<Fp16>()) {
    if (!is_nan(x)) {
      ASSERT_EQ(sfu::truncate_to<Fp16>(widen(x)), x);
    }
  }
}

TEST(UnitInHalf, SpotValues) {
  EXPECT_EQ(sfu::tanh_approx(Fp16{0x3800}).bits,
            0x3764);  // 0.5: 0x3EEC9A50 is 1.8485 * 2^-2, fraction 0.1101100100
  EXPECT_EQ(sfu::tanh_approx(Bf16{0x3F00}).bits, 0x3EEC);
  EXPECT_EQ(sfu::tanh_approx(Bf16{0xFF80}).bits, 0xBF80);
  EXPECT_EQ(sfu::tanh_approx(Fp16{0xFE00}).bits, 0x7FFF);
  EXPECT_EQ(sfu::tanh_approx(Fp16{0x8001}).bits, 0x8001);
  EXPECT_EQ(sfu::ex2_approx_ftz(Bf16{0x3F00}).bits, 0x3FB5);  // sqrt(2) = 0x3FB504F3
  EXPECT_EQ(sfu::ex2_approx_ftz(Bf16{0x4300}).bits, 0x7F80);
  EXPECT_EQ(sfu::ex2_approx_ftz(Bf16{0x7FC1}).bits, 0x7FFF);
}

}  // namespace
}  // namespace bitproof::reference
