#include "conformance/report/shard.h"

#include <map>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace bitproof::conformance {
namespace {

EnvironmentLookup variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  };
}

Shard shard_in(std::map<std::string, std::string> values) {
  const Result<Shard> shard = shard_from_environment(variables(std::move(values)));
  EXPECT_TRUE(shard) << shard.error().message();
  return *shard;
}

RC_GTEST_PROP(Shard, TheSharesOfADomainFollowEachOtherWithoutGapOrOverlap, (std::uint64_t blocks)) {
  const std::uint64_t count = *rc::gen::inRange<std::uint64_t>(1, 100);
  std::uint64_t next = 0;
  for (std::uint64_t index = 0; index < count; ++index) {
    const BlockRange share = share_of({index, count}, blocks);
    RC_ASSERT(share.begin == next);
    RC_ASSERT(share.end >= share.begin);
    next = share.end;
  }
  RC_ASSERT(next == blocks);
}

TEST(Shard, SharesDifferByAtMostOneBlock) {
  // 10 blocks in 4 shards: bounds at 0, 2.5, 5, 7.5, 10, rounded down.
  EXPECT_EQ(share_of({0, 4}, 10), (BlockRange{0, 2}));
  EXPECT_EQ(share_of({1, 4}, 10), (BlockRange{2, 5}));
  EXPECT_EQ(share_of({3, 4}, 10), (BlockRange{7, 10}));
  // Fewer blocks than shards: some have none.
  EXPECT_EQ(share_of({0, 4}, 1), (BlockRange{0, 0}));
  EXPECT_EQ(share_of({3, 4}, 1), (BlockRange{0, 1}));
}

TEST(Shard, IsWrittenIndexSlashCount) {
  ASSERT_TRUE(parse_shard("3/8"));
  EXPECT_EQ(*parse_shard("3/8"), (Shard{3, 8}));
  EXPECT_EQ(name(Shard{3, 8}), "3/8");
}

TEST(Shard, RefusesAnythingElseWithTheRemedy) {
  for (const char* text : {"", "3", "/", "3/", "/8", "8/8", "0/0", "-1/8", "3/8x", "0x3/8", "3/8/1", " 3/8"}) {
    const Result<Shard> shard = parse_shard(text);
    ASSERT_FALSE(shard) << text;
    EXPECT_EQ(shard.error().kind, ErrorKind::bad_argument);
    EXPECT_NE(shard.error().message().find("--shard"), std::string::npos);
  }
}

TEST(ShardFromEnvironment, IsTheWholeWithoutAScheduler) { EXPECT_EQ(shard_in({}), (Shard{0, 1})); }

TEST(ShardFromEnvironment, ReadsOpenMpiAndPmiRanks) {
  EXPECT_EQ(shard_in({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}}), (Shard{2, 4}));
  EXPECT_EQ(shard_in({{"PMI_RANK", "1"}, {"PMI_SIZE", "3"}}), (Shard{1, 3}));
}

TEST(ShardFromEnvironment, CountsSlurmTasksFromTheirMinimumInTheirSteps) {
  EXPECT_EQ(
      shard_in({{"SLURM_ARRAY_TASK_ID", "5"}, {"SLURM_ARRAY_TASK_MIN", "0"}, {"SLURM_ARRAY_TASK_COUNT", "8"}}),
      (Shard{5, 8}));
  // --array=1-8
  EXPECT_EQ(
      shard_in({{"SLURM_ARRAY_TASK_ID", "1"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "8"}}),
      (Shard{0, 8}));
  // --array=10-40:10 has tasks 10, 20, 30, 40
  EXPECT_EQ(shard_in({{"SLURM_ARRAY_TASK_ID", "30"},
                      {"SLURM_ARRAY_TASK_MIN", "10"},
                      {"SLURM_ARRAY_TASK_STEP", "10"},
                      {"SLURM_ARRAY_TASK_COUNT", "4"}}),
            (Shard{2, 4}));
}

TEST(ShardFromEnvironment, AnMpiJobInsideAnArrayTaskIsAShardOfAShard) {
  // Task 1 of 3, rank 2 of 4: shards 4..7 are task 1's.
  EXPECT_EQ(shard_in({{"SLURM_ARRAY_TASK_ID", "1"},
                      {"SLURM_ARRAY_TASK_MIN", "0"},
                      {"SLURM_ARRAY_TASK_COUNT", "3"},
                      {"OMPI_COMM_WORLD_RANK", "2"},
                      {"OMPI_COMM_WORLD_SIZE", "4"}}),
            (Shard{6, 12}));
}

TEST(ShardFromEnvironment, RefusesRanksThatItCannotTrust) {
  const std::map<std::string, std::string> bad[] = {
      {{"OMPI_COMM_WORLD_RANK", "4"}, {"OMPI_COMM_WORLD_SIZE", "4"}},
      {{"OMPI_COMM_WORLD_RANK", "0"}},
      {{"PMI_RANK", "one"}, {"PMI_SIZE", "2"}},
      {{"SLURM_ARRAY_TASK_ID", "1"}},
      // --array=1,3,9: task 9 cannot know that it is the third
      {{"SLURM_ARRAY_TASK_ID", "9"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "3"}},
      {{"SLURM_ARRAY_TASK_ID", "0"}, {"SLURM_ARRAY_TASK_MIN", "1"}, {"SLURM_ARRAY_TASK_COUNT", "3"}},
  };
  for (const auto& values : bad) {
    const Result<Shard> shard = shard_from_environment(variables(values));
    ASSERT_FALSE(shard) << values.begin()->first;
    EXPECT_EQ(shard.error().kind, ErrorKind::bad_argument);
    EXPECT_NE(shard.error().message().find("--shard"), std::string::npos) << shard.error().message();
  }
}

TEST(ResolveShard, TheOptionOutranksTheScheduler) {
  const EnvironmentLookup mpi = variables({{"OMPI_COMM_WORLD_RANK", "2"}, {"OMPI_COMM_WORLD_SIZE", "4"}});
  EXPECT_EQ(*resolve_shard("0/1", mpi), (Shard{0, 1}));
  EXPECT_EQ(*resolve_shard(std::nullopt, mpi), (Shard{2, 4}));
  EXPECT_FALSE(resolve_shard("4/4", mpi));
}

}  // namespace
}  // namespace bitproof::conformance
