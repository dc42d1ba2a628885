#include "conformance/digest_bulk.h"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck/gtest.h>

#include "conformance/digest.h"

namespace bitproof::conformance {
namespace {

std::uint64_t term_by_term(std::span<const std::uint16_t> outputs, std::uint64_t first_index,
                           std::uint64_t seed) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) sum += digest_term(seed, first_index + i, outputs[i]);
  return sum;
}

std::vector<std::uint16_t> all_outputs() {
  std::vector<std::uint16_t> outputs(65536);
  std::iota(outputs.begin(), outputs.end(), std::uint16_t{0});
  return outputs;
}

TEST(Digest, OfNothingIsZeroAndOfOneElementItsTerm) {
  EXPECT_EQ(digest({}, 5, 7), 0u);
  // mix64(0) = 0, so the term of bits 0 at index 0 under seed 0 is 0, and of bits 1 it is mix64(1),
  // SplitMix64's finaliser of 1.
  const std::vector<std::uint16_t> zero{0}, one{1};
  EXPECT_EQ(digest(zero, 0, 0), 0u);
  EXPECT_EQ(digest(one, 0, 0), 0x5692161d100b05e5u);
}

TEST(Digest, EqualsTheSumOfItsTermsOnEveryInstructionSet) {
  const auto outputs = all_outputs();
  const std::uint64_t seed = 0x0123456789ABCDEFu;
  const std::uint64_t first_index = 0xFFFFFFF0u;  // carries into the upper half
  const std::uint64_t expected = term_by_term(outputs, first_index, seed);
  for (std::int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    const std::int64_t target = targets & -targets;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    EXPECT_EQ(digest(outputs, first_index, seed), expected) << hwy::TargetName(target);
    for (std::size_t length = 0; length < 70; ++length) {
      const auto part = std::span(outputs).subspan(40000, length);
      EXPECT_EQ(digest(part, 3, seed), term_by_term(part, 3, seed))
          << hwy::TargetName(target) << ", " << length;
    }
    hwy::SetSupportedTargetsForTest(0);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Digest, DependsOnEveryPosition) {
  auto outputs = all_outputs();
  const std::uint64_t before = digest(outputs, 0, 1);
  std::swap(outputs[17], outputs[18]);
  EXPECT_NE(digest(outputs, 0, 1), before);
  std::swap(outputs[17], outputs[18]);
  EXPECT_EQ(digest(outputs, 0, 1), before);
  EXPECT_NE(digest(outputs, 1, 1), before);
  EXPECT_NE(digest(outputs, 0, 2), before);
}

RC_GTEST_PROP(DigestProperty, OfPartsAddsUpToThatOfTheWhole,
              (std::vector<std::uint16_t> outputs, std::uint64_t first_index, std::uint64_t seed)) {
  const auto cut = *rc::gen::inRange<std::size_t>(0, outputs.size() + 1);
  const std::span<const std::uint16_t> whole(outputs);
  RC_ASSERT(digest(whole.first(cut), first_index, seed) + digest(whole.subspan(cut), first_index + cut, seed) ==
            digest(whole, first_index, seed));
}

}  // namespace
}  // namespace bitproof::conformance
