// The erf form of GELU against the tables recorded from PyTorch on an H200.
#include "reference/gelu_erf.h"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

template <class T>
using GeluErf = ForEachDtype<T>;
TYPED_TEST_SUITE(GeluErf, Dtypes);

TYPED_TEST(GeluErf, EqualsTheRecordedBitsForEveryValue) {
  const auto recorded = oracle<std::uint16_t>(oracle_name<TypeParam>("gelu_erf_"));
  for (const TypeParam x : all_values<TypeParam>()) {
    EXPECT_EQ(gelu_erf(x, kPytorch211Cuda), TypeParam{recorded[x.bits]}) << "x = " << x;
  }
}

TYPED_TEST(GeluErf, IsNotTheTanhForm) {
  std::size_t different = 0;
  for (const TypeParam x : all_values<TypeParam>())
    different += gelu_erf(x, kPytorch211Cuda) == gelu_tanh(x, kPytorch211Cuda) ? 0 : 1;
  // As many as the recorded tables of the two forms differ in.
  EXPECT_EQ(different, TypeParam::kDtype == Dtype::bf16 ? 238u : 3649u);
}

TYPED_TEST(GeluErf, TakesNegativeInfinityFromTheProfile) {
  const TypeParam x = kNegativeInfinity<TypeParam>;
  EXPECT_EQ(gelu_erf(x, kPytorch211Cuda).bits, 0x7FFF);  // -inf * (1 + -1)
  EXPECT_EQ(gelu_erf(x, kPytorch211CudaLimit).bits, 0x8000);
}

TEST(CudaErff, IsOddAndMeetsItsEndsAndItsMath) {
  EXPECT_EQ(float_bits(cuda_erff(0.0f)), 0x00000000u);
  EXPECT_EQ(float_bits(cuda_erff(-0.0f)), 0x80000000u);
  EXPECT_EQ(cuda_erff(4.0f), 1.0f);
  EXPECT_EQ(cuda_erff(-INFINITY), -1.0f);
  EXPECT_TRUE(std::isnan(cuda_erff(NAN)));
  for (float a = -4.0f; a <= 4.0f; a += 0x1p-6f) {
    EXPECT_EQ(float_bits(cuda_erff(-a)) ^ 0x80000000u, float_bits(cuda_erff(a))) << a;
    // The CUDA C++ Programming Guide states an error of at most 2 ULP, and an ULP below 1 is at most 2^-24.
    EXPECT_NEAR(double{cuda_erff(a)}, std::erf(double{a}), 2 * 0x1p-24) << a;
  }
}

}  // namespace
}  // namespace bitproof::reference
