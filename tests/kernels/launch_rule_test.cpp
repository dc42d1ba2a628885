#include "kernels/launch_rule.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernels/architecture.h"

namespace bitproof::kernels {
namespace {

constexpr std::int64_t kMaxGridY = 65535;
// The kernel's own, and one whose threads hold less than a vector.
constexpr LaunchRule kRules[] = {kFusedRule, {.threads_x = 64, .threads_y = 4, .bytes_in_flight = 16}};

TEST(LaunchGeometryTest, IsOneBlockForTheSmallestTensor) {
  for (const LaunchRule& rule : kRules) {
    const LaunchGeometry geometry = launch_geometry(rule, 16, 1, 1);
    EXPECT_EQ(geometry.grid_x, 1u);
    EXPECT_EQ(geometry.grid_y, 1u);
    EXPECT_EQ(geometry.block_x, 64u);
    EXPECT_EQ(geometry.block_x * geometry.block_y, static_cast<std::uint32_t>(rule.block_threads()));
  }
}

TEST(LaunchGeometryTest, ExceedsNoLimitOfCuda) {
  for (const LaunchRule& rule : kRules) {
    // A block has at most 1,024 threads.
    EXPECT_LE(rule.block_threads(), 1024);
    for (const int vector_bytes : {16, 32}) {
      const std::int64_t rows_of_a_block = std::int64_t{rule.threads_y} * rule.rows_per_thread(vector_bytes);
      const auto grid_y = [&](std::int64_t rows) {
        return launch_geometry(rule, vector_bytes, rows, 1).grid_y;
      };
      EXPECT_EQ(grid_y(kMaxGridY * rows_of_a_block), kMaxGridY);
      EXPECT_EQ(grid_y(kMaxGridY * rows_of_a_block + 1), kMaxGridY);
      EXPECT_EQ(grid_y(std::int64_t{1} << 40), kMaxGridY);
      EXPECT_EQ(grid_y((kMaxGridY - 1) * rows_of_a_block), kMaxGridY - 1);
      EXPECT_EQ(launch_geometry(rule, vector_bytes, 1, std::int64_t{1} << 30).grid_x,
                (1 << 30) / rule.threads_x);
    }
  }
}

RC_GTEST_PROP(LaunchGeometryProperty, BelowTheLimitsTheTilesCoverTheTensorAndNoBlockIsIdle, ()) {
  const LaunchRule rule = *rc::gen::elementOf(std::vector<LaunchRule>(std::begin(kRules), std::end(kRules)));
  const int vector_bytes = *rc::gen::element(16, 32);
  const auto rows = *rc::gen::inRange<std::int64_t>(1, 200'000);
  const auto vectors = *rc::gen::inRange<std::int64_t>(1, 200'000);
  const LaunchGeometry geometry = launch_geometry(rule, vector_bytes, rows, vectors);
  const std::int64_t tile_rows = std::int64_t{rule.threads_y} * rule.rows_per_thread(vector_bytes);
  if (geometry.grid_y < kMaxGridY) RC_ASSERT(geometry.grid_y * tile_rows >= rows);
  RC_ASSERT((geometry.grid_y - 1) * tile_rows < rows);
  RC_ASSERT(std::int64_t{geometry.grid_x} * rule.threads_x >= vectors);
  RC_ASSERT((std::int64_t{geometry.grid_x} - 1) * rule.threads_x < vectors);
}

TEST(LaunchRuleTest, AThreadHoldsAsManyBytesWhateverTheVector) {
  for (const LaunchRule& rule : kRules)
    for (const int vector_bytes : {16, 32}) {
      EXPECT_GE(rule.rows_per_thread(vector_bytes), 1);
      EXPECT_LE(rule.rows_per_thread(vector_bytes) * vector_bytes,
                std::max(rule.bytes_in_flight, vector_bytes));
    }
  EXPECT_EQ(kFusedRule.rows_per_thread(16), 4);
  EXPECT_EQ(kFusedRule.rows_per_thread(32), 2);
}

TEST(LaunchRuleText, TellsArchitecturesApartThatLaunchDifferently) {
  const std::string ampere = launch_rule_text("cuda.fused", "sm_80");
  const std::string hopper = launch_rule_text("cuda.fused", "sm_90");
  const std::string blackwell = launch_rule_text("cuda.fused", "sm_100");
  EXPECT_NE(ampere.find("vector 16, dependent launch off"), std::string::npos) << ampere;
  EXPECT_NE(hopper.find("vector 16, dependent launch on"), std::string::npos) << hopper;
  EXPECT_NE(blackwell.find("vector 32, dependent launch on"), std::string::npos) << blackwell;
  EXPECT_EQ(launch_rule_text("cuda.fused", "sm_86"), ampere);
}

TEST(LaunchRuleText, TellsImplementationsApart) {
  const std::string texts[] = {launch_rule_text("cuda.fused", "sm_90"), launch_rule_text("cuda.eager", "sm_90"),
                               launch_rule_text("cuda.baseline", "sm_90")};
  for (const std::string& text : texts) EXPECT_FALSE(text.empty());
  EXPECT_NE(texts[0], texts[1]);
  EXPECT_NE(texts[1], texts[2]);
  EXPECT_NE(texts[0], texts[2]);
}

TEST(LaunchRuleText, IsEmptyForWhatHasNoRule) { EXPECT_EQ(launch_rule_text("reference", "x86_64"), ""); }

}  // namespace
}  // namespace bitproof::kernels
