#include "conformance/report/utc.h"

#include <gtest/gtest.h>

namespace bitproof::conformance {
namespace {

using std::chrono::seconds;
using std::chrono::sys_seconds;

TEST(Utc, WritesAndReadsSecondsSince1970) {
  EXPECT_EQ(to_utc_text(sys_seconds{seconds{0}}), "1970-01-01T00:00:00Z");
  // The well-known 1,234,567,890th second.
  EXPECT_EQ(to_utc_text(sys_seconds{seconds{1234567890}}), "2009-02-13T23:31:30Z");
  EXPECT_EQ(parse_utc("2009-02-13T23:31:30Z"), sys_seconds{seconds{1234567890}});
}

TEST(Utc, KnowsLeapDays) {
  // 2024 was a leap year, 2026 is none.
  EXPECT_TRUE(parse_utc("2024-02-29T00:00:00Z"));
  EXPECT_FALSE(parse_utc("2026-02-29T00:00:00Z"));
}

TEST(Utc, RefusesEverythingElse) {
  for (const char* text : {"", "2026-03-01", "2026-03-01T12:00:00", "2026-03-01 12:00:00Z",
                           "2026-13-01T12:00:00Z", "2026-03-01T24:00:00Z", "2026-03-01T12:60:00Z",
                           "2026-03-01T12:00:60Z", "2026-3-001T12:00:00Z", "2026-03-01T-1:00:00Z"})
    EXPECT_FALSE(parse_utc(text)) << text;
  EXPECT_FALSE(parse_day("2026-04-31"));
  EXPECT_FALSE(parse_day("31.12.2026"));
}

}  // namespace
}  // namespace bitproof::conformance
