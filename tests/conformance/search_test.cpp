#include <cmath>
#include <cstdint>
#include <optional>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/search/coefficient_search.h"
#include "conformance/search/exhaustive_filter.h"
#include "tests/reference/support.h"

namespace bitproof::conformance {
namespace {

using reference::Fp16;

// c x^2 + x with c near pi/4: of a c that is off by one FP32 ULP, a few of the 65,536 results are wrong.
constexpr float kGoal = 0.785398185f;

float parabola(float c, float x) { return std::fma(c * x, x, x); }

std::vector<Fp16> expected_parabola() {
  std::vector<Fp16> expected;
  for (const Fp16 x : reference::all_values<Fp16>())
    expected.push_back(reference::round_to<Fp16>(parabola(kGoal, reference::widen(x))));
  return expected;
}

using Inputs = std::vector<std::uint16_t>;

// Right but for fp16 1, 2 and the NaN 0x7FFF.
float wrong_in_three(float x) {
  if (x == 1.0f) return 5.0f;
  if (x == 2.0f) return std::nextafter(parabola(kGoal, x), 100.0f) + 1;
  if (reference::float_bits(x) == reference::float_bits(reference::widen(Fp16{0x7FFF}))) return 0.0f;
  return parabola(kGoal, x);
}

TEST(ExhaustiveFilterTest, ProvesWhatIsRightOnAllInputs) {
  ExhaustiveFilter<Fp16> filter(expected_parabola());
  const auto goal = [](float x) { return parabola(kGoal, x); };
  EXPECT_TRUE(filter.proves(goal));
  EXPECT_EQ(filter.failures(goal), Inputs{});
}

TEST(ExhaustiveFilterTest, ListsTheInputsOnWhichACandidateIsWrong) {
  const ExhaustiveFilter<Fp16> filter(expected_parabola());
  EXPECT_EQ(filter.failures(wrong_in_three), (Inputs{0x3C00, 0x4000, 0x7FFF}));
}

TEST(ExhaustiveFilterTest, MeetsTheInputThatRejectedTheLastCandidateFirst) {
  ExhaustiveFilter<Fp16> filter(expected_parabola());
  int evaluations = 0;
  const auto counted = [&evaluations](float x) {
    ++evaluations;
    return x == 2.0f ? 0.0f : parabola(kGoal, x);
  };
  EXPECT_FALSE(filter.proves(counted));
  EXPECT_EQ(evaluations, 0x4000 + 1);  // 2 is the input 0x4000
  EXPECT_FALSE(filter.proves(counted));
  EXPECT_EQ(evaluations, 0x4000 + 2);
  // A rejection changes the order and never the answer.
  EXPECT_FALSE(filter.proves(wrong_in_three));
  EXPECT_TRUE(filter.proves([](float x) { return parabola(kGoal, x); }));
}

using Search = CoefficientSearch<Fp16, 1>;

Search search_from(std::uint64_t seed) {
  // Steps of an ULP of c, from a start a few dozen of them away.
  return {expected_parabola(), {{{.origin = kGoal + 20 * 0x1p-24, .step = 0x1p-24, .spread = 60}}}, seed};
}

const auto kFormula = [](const Search::Values& values) {
  return [c = values[0]](float x) { return parabola(c, x); };
};

TEST(CoefficientSearchTest, FindsAProof) {
  Search search = search_from(7);
  const auto proof = search.run(kFormula, 400, 200);
  ASSERT_TRUE(proof);
  EXPECT_EQ(ExhaustiveFilter<Fp16>(expected_parabola()).failures(kFormula(proof->values)), Inputs{});
  EXPECT_EQ(search.fewest_failures(), 0u);
  EXPECT_GE(search.starts_tried(), 1);
}

TEST(CoefficientSearchTest, IsDeterministicForASeed) {
  Search one = search_from(7), two = search_from(7);
  const auto first = one.run(kFormula, 400, 200), second = two.run(kFormula, 400, 200);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->steps, second->steps);
  EXPECT_EQ(one.starts_tried(), two.starts_tried());
  EXPECT_EQ(one.hard_inputs(), two.hard_inputs());
}

TEST(CoefficientSearchTest, GivesUpAfterItsStartsAndSaysHowNearItCame) {
  // A constant is right on few inputs.
  Search search = search_from(1);
  const auto constant = [](const Search::Values& values) { return [c = values[0]](float) { return c; }; };
  EXPECT_FALSE(search.run(constant, 3, 10));
  EXPECT_EQ(search.starts_tried(), 3);
  EXPECT_GT(search.fewest_failures(), 60000u);
  EXPECT_EQ(search.hard_inputs(), 0u) << "a hopeless start teaches nothing";
}

}  // namespace
}  // namespace bitproof::conformance
