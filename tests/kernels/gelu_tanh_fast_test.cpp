// The proof of the kernels' formula for GELU: all 65,536 inputs of both dtypes.
#include "kernels/gelu_tanh_fast.h"

#include <cmath>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/search/exhaustive_filter.h"
#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::kernels {
namespace {

using conformance::ExhaustiveFilter;
using reference::Bf16;
using reference::Fp16;
using reference::Half;

template <Half T>
ExhaustiveFilter<T> filter_of_the_reference() {
  std::vector<T> expected;
  for (const T x : reference::all_values<T>())
    expected.push_back(reference::gelu_tanh(x, reference::kPytorch211Cuda));
  return ExhaustiveFilter<T>(expected);
}

using Inputs = std::vector<std::uint16_t>;

TEST(GeluTanhFast, IsRightOnAllInputsOfBothDtypes) {
  EXPECT_EQ(filter_of_the_reference<Bf16>().failures(gelu_tanh_fast), Inputs{});
  EXPECT_EQ(filter_of_the_reference<Fp16>().failures(gelu_tanh_fast), Inputs{});
}

TEST(GeluTanhFast, IsRightOnAllValuesRecordedFromPyTorch) {
  const auto recorded = reference::oracle<Fp16>("gelu_tanh_fp16.bin");
  EXPECT_EQ(ExhaustiveFilter<Fp16>(recorded).failures(gelu_tanh_fast), Inputs{});
  const auto recorded_bf16 = reference::oracle<Bf16>("gelu_tanh_bf16.bin");
  EXPECT_EQ(ExhaustiveFilter<Bf16>(recorded_bf16).failures(gelu_tanh_fast), Inputs{});
}

// The formula with the three correcting coefficients left out.
float gelu_tanh_with_neutral_coefficients(float x) {
  using C = GeluTanhCoefficients;
  const float power = exp2_approximate(std::fabs(x) * fused_multiply_add(C::b, multiply(x, x), C::a));
  const float r = reciprocal_approximate(add(power, 1.0f));
  return multiply(x, add(0.5f, std::copysign(0.5f - r, x)));
}

TEST(GeluTanhFast, WouldBeWrongOnThreeFp16InputsWithNeutralCoefficients) {
  EXPECT_EQ(filter_of_the_reference<Fp16>().failures(gelu_tanh_with_neutral_coefficients),
            (Inputs{0x0E55, 0x8E55, 0xB5A7}));
}

}  // namespace
}  // namespace bitproof::kernels
