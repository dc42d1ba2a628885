#include "reference/trace.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "reference/gelu.h"
#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

template <Half T>
const TraceStep& step(const Trace<T>& trace, std::string_view name) {
  const auto found =
      std::find_if(trace.steps.begin(), trace.steps.end(), [&](const auto& s) { return s.name == name; });
  if (found == trace.steps.end()) throw std::out_of_range("no step " + std::string(name));
  return *found;
}

template <class T>
using TraceOf = ForEachDtype<T>;
TYPED_TEST_SUITE(TraceOf, Dtypes);

TYPED_TEST(TraceOf, EveryValueEndsInTheOperatorsResult) {
  for (const TypeParam x : all_values<TypeParam>()) {
    const auto trace = trace_gelu_tanh(x, kPytorch211Cuda);
    ASSERT_EQ(trace.result, gelu_tanh(x, kPytorch211Cuda)) << "x = " << x;
    ASSERT_EQ(trace.steps.back().bits, trace.result.bits);
    ASSERT_EQ(trace.steps.back().name, "result");
    const std::uint32_t fp32 = float_bits(gelu_tanh_fp32(widen(x), kPytorch211Cuda));
    ASSERT_EQ(is_nan_bits(step(trace, "gelu").bits), is_nan_bits(fp32)) << "x = " << x;
    if (!is_nan_bits(fp32)) {
      ASSERT_EQ(step(trace, "gelu").bits, fp32) << "x = " << x;
    }
  }
}

TYPED_TEST(TraceOf, EveryProfileEndsInTheOperatorsResult) {
  Profile fused = kPytorch211Cuda;
  fused.sum_rounding = SumRounding::none;
  Profile approximate = kPytorch211Cuda;
  approximate.tanh = Tanh::tanh_approx;
  for (const Profile& profile : {kPytorch211Cuda, kPytorch211CudaLimit, fused, approximate}) {
    for (const TypeParam x : special_values<TypeParam>()) {
      for (const TypeParam bias : special_values<TypeParam>()) {
        ASSERT_EQ(trace_bias_gelu_tanh(x, bias, profile).result, bias_gelu_tanh(x, bias, profile))
            << x << " " << bias;
      }
    }
  }
}

TYPED_TEST(TraceOf, StepsHaveUniqueNamesAndValuesThatMatchTheirBits) {
  for (const TypeParam x : special_values<TypeParam>()) {
    for (const TypeParam bias : special_values<TypeParam>()) {
      std::set<std::string> names;
      for (const TraceStep& s : trace_bias_gelu_tanh(x, bias, kPytorch211Cuda).steps) {
        EXPECT_TRUE(names.insert(s.name).second) << s.name;
        const double value = s.width_bits == 16 ? double{widen(TypeParam{static_cast<std::uint16_t>(s.bits)})}
                                                : double{float_from_bits(s.bits)};
        EXPECT_TRUE(s.value == value || (std::isnan(s.value) && std::isnan(value))) << s.name;
        EXPECT_TRUE(s.width_bits == 32 || s.bits <= 0xFFFF) << s.name;
      }
    }
  }
}

TEST(Trace, OfATieSaysSo) {
  // 1 + 2^-8 in bf16.
  const auto trace = trace_bias_gelu_tanh(Bf16{0x3F80}, Bf16{0x3B80}, kPytorch211Cuda);
  EXPECT_EQ(step(trace, "sum").bits, 0x3F808000u);
  EXPECT_EQ(step(trace, "sum").ulps_to_tie, 0.0);
  EXPECT_EQ(step(trace, "rounded sum").bits, 0x3F80u);
  EXPECT_EQ(step(trace, "tanh: ex2").width_bits, 32);
  EXPECT_EQ(step(trace, "tanh: rcp").width_bits, 32);
  EXPECT_EQ(trace.result, Bf16{0x3F57});
}

TEST(Trace, OfASmallValueShowsThePolynomial) {
  const auto trace = trace_gelu_tanh(Fp16{0xB5A7}, kPytorch211Cuda);
  EXPECT_EQ(step(trace, "tanh: polynomial").width_bits, 32);
  EXPECT_THROW(step(trace, "tanh: ex2"), std::out_of_range);
  EXPECT_EQ(trace.result, Fp16{0xB018});
}

TEST(UlpsToTie, LiteralDistances) {
  // Between bf16 neighbours lie 2^16 FP32 numbers, the tie in the middle.
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Bf16>(float_from_bits(0x3F808000)), 0.0);
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Bf16>(float_from_bits(0x3F807FFF)), 1.0);
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Bf16>(float_from_bits(0xBF808001)), -1.0);
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Bf16>(float_from_bits(0x3F850000)), 32768.0);
  // Below a power of two the gaps are half as wide: from 1.0 the tie below is 2^-9 = 2^14 ULPs of 2^-23 away.
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Bf16>(1.0f), -16384.0);
  // The last tie of fp16 is 65520.
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Fp16>(65520.0f), 0.0);
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Fp16>(65536.0f), -16 / 0x1p-7);
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Fp16>(0x1p-25f), 0.0);
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Bf16>(0.0f), 0x1p15);  // 2^-134 in units of 2^-149
  EXPECT_EQ(fp32_ulps_to_nearest_tie<Fp16>(-std::numeric_limits<float>::infinity()),
            std::numeric_limits<double>::infinity());
}

// The FP32 numbers before and after the nearest tie round to different numbers. `value` is not negative.
template <Half T>
void expect_rounding_to_change_across_the_tie(float value) {
  const float infinity = std::numeric_limits<float>::infinity();
  const double ulp = double{std::nextafter(value, infinity)} - double{value};
  const double tie = double{value} + fp32_ulps_to_nearest_tie<T>(value) * ulp;
  const auto at = static_cast<float>(tie);
  RC_ASSERT(double{at} == tie);
  RC_ASSERT(round_to<T>(std::nextafter(at, 0.0f)) != round_to<T>(std::nextafter(at, infinity)));
}

RC_GTEST_PROP(UlpsToTieProperty, RoundingChangesAcrossTheNearestTie, ()) {
  const auto bits = any_bits<std::uint32_t>();
  const float value = float_from_bits(bits & 0x7FFFFFFFu);
  RC_PRE(std::isfinite(value) && value < 0x1p127f);
  expect_rounding_to_change_across_the_tie<Bf16>(value);
  expect_rounding_to_change_across_the_tie<Fp16>(std::ldexp(float_from_bits((bits & 0x007FFFFFu) | 0x3F800000u),
                                                            static_cast<int>(bits >> 23 & 0xFF) % 40 - 24));
}

}  // namespace
}  // namespace bitproof::reference
