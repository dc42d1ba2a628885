// The reference against the tables recorded from PyTorch on an H200, and references that are wrong in a known
// way.
#include "reference/gelu.h"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

template <class T>
using GeluTanh = ForEachDtype<T>;
TYPED_TEST_SUITE(GeluTanh, Dtypes);

TYPED_TEST(GeluTanh, EqualsTheRecordedBitsForEveryValue) {
  const auto recorded = oracle<std::uint16_t>(oracle_name<TypeParam>("gelu_tanh_"));
  for (const TypeParam x : all_values<TypeParam>()) {
    EXPECT_EQ(gelu_tanh(x, kPytorch211Cuda), TypeParam{recorded[x.bits]}) << "x = " << x;
  }
}

TYPED_TEST(GeluTanh, EqualsTheRecordedFp32BeforeTheLastRounding) {
  const auto recorded = oracle<std::uint32_t>(oracle_name<TypeParam>("gelu_tanh_fp32_from_"));
  std::size_t compared = 0;
  for (const TypeParam x : all_values<TypeParam>()) {
    const std::uint32_t bits = float_bits(gelu_tanh_fp32(widen(x), kPytorch211Cuda));
    EXPECT_EQ(is_nan_bits(bits), is_nan_bits(recorded[x.bits])) << "x = " << x;
    if (is_nan_bits(recorded[x.bits])) continue;
    EXPECT_EQ(bits, recorded[x.bits]) << "x = " << x;
    ++compared;
  }
  // All but the NaNs and -inf, whose result is one.
  EXPECT_EQ(compared, 65536u - 2u * (0x7FFFu - kPositiveInfinity<TypeParam>.bits) - 1u);
}

TYPED_TEST(GeluTanh, AddingNegativeZeroChangesNothingAndPositiveZeroOnlyNegativeZero) {
  for (const TypeParam x : all_values<TypeParam>()) {
    const TypeParam alone = gelu_tanh(x, kPytorch211Cuda);
    EXPECT_EQ(bias_gelu_tanh(x, TypeParam{0x8000}, kPytorch211Cuda), alone) << "x = " << x;
    const TypeParam with_positive_zero = bias_gelu_tanh(x, TypeParam{0x0000}, kPytorch211Cuda);
    EXPECT_EQ(with_positive_zero, x.bits == 0x8000 ? TypeParam{0x0000} : alone) << "x = " << x;
  }
}

TYPED_TEST(GeluTanh, AnyNanGivesTheCanonicalNan) {
  for (const TypeParam nan : all_values<TypeParam>()) {
    if (!is_nan(nan)) continue;
    EXPECT_EQ(gelu_tanh(nan, kPytorch211Cuda).bits, 0x7FFF);
    for (const TypeParam other : special_values<TypeParam>()) {
      EXPECT_EQ(bias_gelu_tanh(nan, other, kPytorch211Cuda).bits, 0x7FFF);
      EXPECT_EQ(bias_gelu_tanh(other, nan, kPytorch211Cuda).bits, 0x7FFF);
    }
  }
}

TEST(GeluTanhFormula, GivesNanForNegativeInfinityAndTheIdentityForPositive) {
  const float infinity = widen(kPositiveInfinity<Bf16>);
  EXPECT_TRUE(std::isnan(gelu_tanh_steps(-infinity, cuda_tanhf).result));  // -inf * (1 + -1)
  EXPECT_EQ(gelu_tanh_steps(infinity, cuda_tanhf).result, infinity);
}

// A wrong reference is GELU on another tanh. These are the values where it differs from the recorded bits, NaNs
// aside.
template <Half T, class Tanh>
std::vector<T> differences(Tanh tanh) {
  const auto recorded = oracle<std::uint16_t>(oracle_name<T>("gelu_tanh_"));
  std::vector<T> different;
  for (const T x : all_values<T>()) {
    const T result = round_to<T>(gelu_tanh_steps(widen(x), tanh).result);
    if (!is_nan(result) && result.bits != recorded[x.bits]) different.push_back(x);
  }
  return different;
}

float double_tanh(float a) { return static_cast<float>(std::tanh(double{a})); }
float library_tanh(float a) { return std::tanh(a); }

TEST(WrongReference, TanhInDoublePrecisionDiffersInExactlyOneFp16Value) {
  EXPECT_EQ(differences<Fp16>(double_tanh), std::vector{Fp16{0xC007}});
  EXPECT_TRUE(differences<Bf16>(double_tanh).empty());
}

TEST(WrongReference, TheHostLibrarysTanhfDiffers) {
  // How many differ is up to the library's version: two with glibc 2.36.
  EXPECT_GE(differences<Fp16>(library_tanh).size(), 1u);
}

TEST(WrongReference, TheUnitsOwnTanhDiffersInAKnownNumberOfValues) {
  const auto unit_tanh = [](float a) { return sfu::tanh_approx(a); };
  EXPECT_EQ(differences<Bf16>(unit_tanh).size(), 60u);
  EXPECT_EQ(differences<Fp16>(unit_tanh).size(), 645u);
}

TEST(WrongReference, CudaTanhfOnTheExactUnitDoesNotDiffer) {
  EXPECT_TRUE(differences<Bf16>(cuda_tanhf).empty());
  EXPECT_TRUE(differences<Fp16>(cuda_tanhf).empty());
}

// How many FP32 values before the last rounding differ from the recorded ones.
template <Half T, class Tanh>
std::size_t fp32_differences(Tanh tanh) {
  const auto recorded = oracle<std::uint32_t>(oracle_name<T>("gelu_tanh_fp32_from_"));
  std::size_t count = 0;
  for (const T x : all_values<T>()) {
    const std::uint32_t bits = float_bits(gelu_tanh_steps(widen(x), tanh).result);
    count += !is_nan_bits(bits) && bits != recorded[x.bits];
  }
  return count;
}

TEST(WrongReference, CorrectlyRoundedExp2AndReciprocalDifferBeforeTheLastRounding) {
  // CUDA's tanhf with the unit's two results replaced by the nearest FP32 numbers: right after rounding to the
  // dtype, but not before. Exponentials in double are within an FP32 rounding of exact, so the counts are
  // robust.
  const auto rounded_unit = [](float a) {
    const CudaTanhSteps steps = cuda_tanh_steps(a);
    if (steps.uses_polynomial || steps.magnitude >= kTanhSaturation) return steps.result;
    const auto ex2 = static_cast<float>(std::exp2(double{steps.ex2_argument}));
    const float rcp = 1.0f / (ex2 + 1.0f);
    return std::copysign(std::fma(rcp, -2.0f, 1.0f), a);
  };
  EXPECT_TRUE(differences<Bf16>(rounded_unit).empty());
  EXPECT_TRUE(differences<Fp16>(rounded_unit).empty());
  EXPECT_EQ(fp32_differences<Bf16>(rounded_unit), 40u);
  EXPECT_EQ(fp32_differences<Fp16>(rounded_unit), 308u);
  EXPECT_EQ(fp32_differences<Fp16>(cuda_tanhf), 0u);
}

}  // namespace
}  // namespace bitproof::reference
