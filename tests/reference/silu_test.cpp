// SiLU against the tables recorded from PyTorch on an H200.
#include "reference/silu.h"

#include <cmath>
#include <cstdint>

#include <gtest/gtest.h>

#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

template <class T>
using Silu = ForEachDtype<T>;
TYPED_TEST_SUITE(Silu, Dtypes);

TYPED_TEST(Silu, EqualsTheRecordedBitsForEveryValue) {
  const auto recorded = oracle<std::uint16_t>(oracle_name<TypeParam>("silu_"));
  for (const TypeParam x : all_values<TypeParam>()) {
    EXPECT_EQ(silu(x, kPytorch211Cuda), TypeParam{recorded[x.bits]}) << "x = " << x;
  }
}

TEST(SiluFormula, MeetsItsEnds) {
  EXPECT_EQ(float_bits(silu_fp32(0.0f)), 0x00000000u);
  EXPECT_EQ(float_bits(silu_fp32(-0.0f)), 0x80000000u);
  EXPECT_EQ(silu_fp32(INFINITY), INFINITY);
  EXPECT_TRUE(std::isnan(silu_fp32(-INFINITY)));           // -inf / inf
  EXPECT_EQ(float_bits(silu_fp32(-100.0f)), 0x80000000u);  // -100 / inf: exp(100) overflows
  EXPECT_TRUE(std::isnan(silu_fp32(NAN)));
}

TEST(CudaExpf, MeetsItsEndsAndItsMath) {
  EXPECT_EQ(cuda_expf(0.0f), 1.0f);
  EXPECT_EQ(cuda_expf(-INFINITY), 0.0f);
  EXPECT_EQ(cuda_expf(INFINITY), INFINITY);
  EXPECT_EQ(cuda_expf(89.0f), INFINITY);  // e^89 = 4.5e38 is above the largest FP32 number, 3.4e38
  EXPECT_TRUE(std::isnan(cuda_expf(NAN)));
  // The CUDA C++ Programming Guide states an error of at most 2 ULP.
  for (float a = -80.0f; a <= 80.0f; a += 0x1p-3f)
    EXPECT_NEAR(double{cuda_expf(a)} / std::exp(double{a}), 1.0, 2 * 0x1p-23) << a;
}

}  // namespace
}  // namespace bitproof::reference
