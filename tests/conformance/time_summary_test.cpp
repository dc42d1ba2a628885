#include "conformance/bench/time_summary.h"

#include <gtest/gtest.h>

namespace bitproof::conformance {
namespace {

TEST(TimeSummary, IsOfTimesInAnyOrder) {
  const TimeSummary odd = summarise({7, 1, 100, 3, 5});
  EXPECT_EQ(odd.samples, 5);
  EXPECT_EQ(odd.median_us, 5);
  EXPECT_EQ(odd.fastest_us, 1);
  EXPECT_EQ(odd.slowest_us, 100);
}

TEST(TimeSummary, OfAnEvenNumberHasAMedianThatWasTaken) { EXPECT_EQ(summarise({4, 1, 3, 2}).median_us, 3); }

TEST(TimeSummary, OfNoTimesIsNone) { EXPECT_THROW(summarise({}), std::invalid_argument); }

}  // namespace
}  // namespace bitproof::conformance
