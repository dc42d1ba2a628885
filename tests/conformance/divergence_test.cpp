#include "conformance/elementwise/divergence.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/operators.h"
#include "tests/conformance/elementwise_samples.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;
using reference::Profile;
using testing::kBiased;
using testing::kUnary;

template <Half T>
std::string step(const ElementwiseOperator& op, T x, T bias, T got) {
  const WrongElement<T> element{x, bias, got};
  return step_where_computations_part<T>(op, reference::kPytorch211Cuda, {&element, 1});
}

TEST(StepWhereComputationsPart, IsTheRoundingOfTheSumWhereItWasLeftOut) {
  // gelu(1 + 2^-8) = 0x3F58; eager rounds the sum, a tie, to 1 first: 0x3F57.
  EXPECT_EQ(step(kBiased, Bf16{0x3F80}, Bf16{0x3B80}, Bf16{0x3F58}),
            "rounded sum: as if the sum were not rounded to the dtype");
}

// The first fp16 input in (1/4, 4) whose GELU differs under `other` and by at least `least` ULP.
std::optional<Fp16> first_difference(const Profile& other, std::uint32_t least) {
  for (std::uint16_t bits = 0x3400; bits < 0x4400; ++bits) {
    const Fp16 right = reference::gelu_tanh(Fp16{bits}, reference::kPytorch211Cuda);
    if (reference::ulp_distance(right, reference::gelu_tanh(Fp16{bits}, other)) >= least) return Fp16{bits};
  }
  return std::nullopt;
}

TEST(StepWhereComputationsPart, IsInsideTanhWhereTheInstructionStandsForTheFunction) {
  Profile approximate = reference::kPytorch211Cuda;
  approximate.tanh = reference::Tanh::tanh_approx;
  const auto x = first_difference(approximate, 1);
  ASSERT_TRUE(x);
  for (const ElementwiseOperator& op : {kBiased, kUnary}) {
    const std::string text = step(op, *x, Fp16{0x8000}, reference::gelu_tanh(*x, approximate));
    EXPECT_TRUE(text.starts_with("tanh")) << text;
    EXPECT_TRUE(text.ends_with(": as if tanh were tanh.approx.f32")) << text;
  }
}

TEST(StepWhereComputationsPart, IsTheActivationWhereItIsAnother) {
  // The first values whose erf form (fixtures/oracles/gelu_erf_*.bin) differs from the tanh form. In fp16 it is
  // also what tanh.approx would give: one element can have two explanations.
  EXPECT_EQ(step(kUnary, Bf16{0x3F06}, Bf16{}, Bf16{0x3EBC}), "activation: as if it were the erf form of GELU");
  EXPECT_EQ(step(kUnary, Fp16{0x2DF1}, Fp16{}, Fp16{0x2A62}),
            "tanh: u^2: as if tanh were tanh.approx.f32; or activation: as if it were the erf form of GELU");
  // silu(1) = 1 / (1 + 1/e) = 0.73106, bf16 0x3F3B.
  EXPECT_EQ(step(kBiased, Bf16{0x3F80}, Bf16{0x8000}, Bf16{0x3F3B}), "activation: as if it were SiLU");
}

// The first differences of GELU's erf form from its tanh form in fp16, out of fixtures/oracles.
TEST(StepWhereComputationsPart, IsToldBySeveralElementsWhereOneHasSeveralExplanations) {
  const auto of = [](std::vector<WrongElement<Fp16>> elements) {
    return step_where_computations_part<Fp16>(kUnary, reference::kPytorch211Cuda, elements);
  };
  const std::string approximate = "tanh: u^2: as if tanh were tanh.approx.f32";
  const std::string erf = "activation: as if it were the erf form of GELU";
  const WrongElement<Fp16> both{Fp16{0x2DF1}, Fp16{}, Fp16{0x2A62}};
  std::vector<WrongElement<Fp16>> of_erf{both}, of_approximate{both};
  Profile profile = reference::kPytorch211Cuda;
  profile.tanh = reference::Tanh::tanh_approx;
  for (std::uint16_t bits = 0x2DF2; bits < 0x3800; ++bits) {
    const Fp16 x{bits}, right = reference::gelu_tanh(x, reference::kPytorch211Cuda);
    if (const Fp16 got = reference::gelu_erf(x, reference::kPytorch211Cuda); got != right)
      of_erf.push_back({x, Fp16{}, got});
    if (const Fp16 got = reference::gelu_tanh(x, profile); got != right)
      of_approximate.push_back({x, Fp16{}, got});
  }
  ASSERT_GT(of_erf.size(), 2u);
  ASSERT_GT(of_approximate.size(), 2u);
  EXPECT_EQ(of({both}), approximate + "; or " + erf);
  EXPECT_EQ(of(of_erf), erf);
  EXPECT_EQ(of(of_approximate), approximate);
  // Elements of different causes: those of the first.
  EXPECT_EQ(of({both, {Fp16{0x3C00}, Fp16{}, Fp16{0x1234}}}), approximate + "; or " + erf);
  EXPECT_EQ(of({}), "");
}

TEST(StepWhereComputationsPart, IsTheLastRoundingForANeighbourTowardsZero) {
  // gelu(1) = 0.84119, bf16 0x3F57 = 0.83984 and 0x3F58 = 0.84375 are its neighbours.
  EXPECT_EQ(step(kUnary, Bf16{0x3F80}, Bf16{}, Bf16{0x3F56}),
            "result: as if the last rounding were toward zero, or the FP32 value slightly smaller");
  EXPECT_EQ(step(kUnary, Bf16{0x3F80}, Bf16{}, Bf16{0x3F58}), "") << "away from zero";
}

TEST(StepWhereComputationsPart, IsNothingForTheRightResult) {
  // 1 + 0 needs no rounding, so that leaving it out gives the right result as well.
  EXPECT_EQ(step(kBiased, Bf16{0x3F80}, Bf16{0x0000}, Bf16{0x3F57}), "");
}

TEST(StepWhereComputationsPart, IsNothingForResultsOfNoKnownComputation) {
  EXPECT_EQ(step(kBiased, Bf16{0x3F80}, Bf16{0x3B80}, Bf16{0x1234}), "");
  EXPECT_EQ(step(kBiased, Fp16{0x3C00}, Fp16{0x8000}, Fp16{0x7FFF}), "");
  EXPECT_EQ(step(kBiased, Fp16{0xFC00}, Fp16{0x8000}, Fp16{0x8000}), "") << "expected a NaN";
}

}  // namespace
}  // namespace bitproof::conformance
