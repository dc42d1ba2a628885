#include "reference/tanhf.h"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/half.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

std::uint32_t tanh_bits(std::uint32_t bits) { return float_bits(cuda_tanhf(float_from_bits(bits))); }

TEST(CudaTanhf, SpecialValues) {
  EXPECT_EQ(tanh_bits(0x00000000), 0x00000000u);
  EXPECT_EQ(tanh_bits(0x80000000), 0x80000000u);
  EXPECT_EQ(tanh_bits(0x00000001), 0x00000001u);  // subnormals pass
  EXPECT_EQ(tanh_bits(0x80400000), 0x80400000u);
  EXPECT_EQ(tanh_bits(0x7F800000), 0x3F800000u);
  EXPECT_EQ(tanh_bits(0xFF800000), 0xBF800000u);
  EXPECT_TRUE(is_nan_bits(tanh_bits(0x7FC00000)));
}

TEST(CudaTanhf, ChangesMethodAtSixTenthsAndSaturatesAtNine) {
  EXPECT_TRUE(cuda_tanh_steps(float_from_bits(0x3F199999)).uses_polynomial);
  EXPECT_FALSE(cuda_tanh_steps(float_from_bits(0x3F19999A)).uses_polynomial);
  EXPECT_FALSE(cuda_tanh_steps(float_from_bits(0xBF19999A)).uses_polynomial);
  EXPECT_EQ(tanh_bits(0x41102CB4), 0x3F800000u);
  EXPECT_EQ(tanh_bits(0xC1102CB4), 0xBF800000u);
}

TEST(CudaTanhf, OfOneByHand) {
  // |a| = 1: the argument of ex2 is 0x4038AA3B = 2.885390; e^2 = 7.389056, 1/(e^2 + 1) = 0.119203, 1 - 2*that =
  // 0.761594.
  const CudaTanhSteps steps = cuda_tanh_steps(-1.0f);
  EXPECT_EQ(float_bits(steps.ex2_argument), 0x4038AA3Bu);
  EXPECT_EQ(steps.ex2, sfu::ex2_approx_ftz(steps.ex2_argument));
  EXPECT_NEAR(double{steps.ex2}, 7.38905609893065, 1e-6);
  EXPECT_EQ(steps.denominator, steps.ex2 + 1.0f);
  EXPECT_NEAR(double{steps.rcp}, 0.119202922022118, 1e-8);
  EXPECT_NEAR(double{steps.result}, -0.761594155955765, 1e-7);
  EXPECT_EQ(steps.result, -steps.unsigned_tanh);
}

RC_GTEST_PROP(CudaTanhfProperty, IsOddAndBounded, ()) {
  const auto bits = any_bits<std::uint32_t>();
  RC_PRE(!is_nan_bits(bits));
  RC_ASSERT(tanh_bits(bits ^ 0x80000000u) == (tanh_bits(bits) ^ 0x80000000u));
  RC_ASSERT(std::fabs(float_from_bits(tanh_bits(bits))) <= 1.0f);
}

TEST(CudaTanhf, IsWithinTwoUlpsOfTheExactValueOnASample) {
  for (std::uint32_t bits = 0x30000000u; bits < 0x41200000u; bits += 1009) {
    const float a = float_from_bits(bits);
    const double exact = std::tanh(double{a});
    int exponent = 0;
    std::frexp(exact, &exponent);
    ASSERT_LE(std::fabs(double{cuda_tanhf(a)} - exact), 2 * std::ldexp(1.0, exponent - 24)) << a;
  }
}

}  // namespace
}  // namespace bitproof::reference
