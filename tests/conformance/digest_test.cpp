#include "conformance/digest.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace bitproof::conformance {
namespace {

TEST(Mix64, IsTheFinaliserOfSplitMix64) {
  // SplitMix64 of seed 0 advances its state by 0x9E3779B97F4A7C15, 2^64 over the golden ratio, and finalises
  // it. Its first three outputs are published with the generator.
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15u;
  EXPECT_EQ(mix64(kGolden), 0xE220A8397B1DCDAFu);
  EXPECT_EQ(mix64(2 * kGolden), 0x6E789E6AA1B965F4u);
  EXPECT_EQ(mix64(3 * kGolden), 0x06C45D188009454Fu);
  EXPECT_EQ(mix64(0), 0u);
}

// Undoes z ^= z >> shift: the upper bits are right from the start, each pass repairs `shift` more.
constexpr std::uint64_t undo_shift(std::uint64_t z, int shift) {
  std::uint64_t x = z;
  for (int done = shift; done < 64; done += shift) x = z ^ (x >> shift);
  return x;
}

// The inverse of an odd number modulo 2^64: Newton's iteration doubles the right bits, of which an odd number
// has three.
constexpr std::uint64_t inverse(std::uint64_t odd) {
  std::uint64_t x = odd;
  for (int i = 0; i < 5; ++i) x *= 2 - odd * x;
  return x;
}

RC_GTEST_PROP(Mix64Property, IsABijection, ()) {
  const auto z = *rc::gen::arbitrary<std::uint64_t>();
  std::uint64_t x = undo_shift(mix64(z), 31) * inverse(0x94D049BB133111EBu);
  x = undo_shift(x, 27) * inverse(0xBF58476D1CE4E5B9u);
  RC_ASSERT(undo_shift(x, 30) == z);
}

TEST(DigestTerm, DependsOnSeedIndexAndBits) {
  const std::uint64_t term = digest_term(1, 2, 3);
  EXPECT_EQ(term, mix64(mix64(1 ^ 2) ^ 3));
  EXPECT_NE(digest_term(2, 2, 3), term);
  EXPECT_NE(digest_term(1, 3, 3), term);
  EXPECT_NE(digest_term(1, 2, 4), term);
}

TEST(DigestTerm, SingleBitErrorsOfAResultAllChangeIt) {
  for (int bit = 0; bit < 16; ++bit)
    for (std::uint64_t index = 0; index < 1000; ++index)
      ASSERT_NE(digest_term(1, index, 0x3C00), digest_term(1, index, 0x3C00 ^ 1u << bit));
}

RC_GTEST_PROP(DigestTermProperty, SumsCommute, (std::vector<std::uint16_t> outputs, std::uint64_t seed)) {
  std::vector<std::uint64_t> terms;
  for (std::size_t i = 0; i < outputs.size(); ++i) terms.push_back(digest_term(seed, i, outputs[i]));
  const auto sum = [&terms] {
    std::uint64_t total = 0;
    for (const std::uint64_t term : terms) total += term;
    return total;
  };
  const std::uint64_t forward = sum();
  std::ranges::reverse(terms);
  RC_ASSERT(sum() == forward);
  std::ranges::sort(terms);
  RC_ASSERT(sum() == forward);
}

}  // namespace
}  // namespace bitproof::conformance
