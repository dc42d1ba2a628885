#include "conformance/report/report_writer.h"

#include <thread>

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conformance/report/combine.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using testing::kBlocks;
using testing::sample_plan;
using testing::TemporaryDirectory;
using testing::tested_record;

constexpr BlockRange kAll{0, kBlocks};

Report on_disk(const TemporaryDirectory& directory) {
  const Result<Report> report = parse_report(directory.path());
  EXPECT_TRUE(report) << report.error().message();
  return report ? *report : Report{};
}

ReportWriter created(const TemporaryDirectory& directory, const Report& plan,
                     ReportWriter::Options options = {}) {
  Result<ReportWriter> writer = ReportWriter::create(directory.path(), plan, std::move(options));
  if (!writer) throw std::runtime_error(writer.error().message());
  return *std::move(writer);
}

TEST(ReportWriter, WritesTheWholePlanAsNotRunBeforeAnythingRuns) {
  const TemporaryDirectory directory;
  Report plan = sample_plan(3);
  plan.records[2].reason = "no CUDA device";
  const ReportWriter writer = created(directory, plan);
  const Report report = on_disk(directory);
  ASSERT_EQ(report.records.size(), 3u);
  for (const Record& record : report.records) EXPECT_EQ(record.verdict, Verdict::not_run);
  EXPECT_EQ(report.records[0].reason, "the run ended before this record");
  EXPECT_EQ(report.records[2].reason, "no CUDA device");
}

TEST(ReportWriter, AFinishedRecordIsOnTheDiskAtOnce) {
  const TemporaryDirectory directory;
  const Report plan = sample_plan(2);
  ReportWriter writer = created(directory, plan);
  const Record finished = tested_record(plan.records[1], {&kAll, 1}, 0);
  ASSERT_TRUE(writer.update(1, finished));
  EXPECT_EQ(on_disk(directory).records[1], finished);
  EXPECT_EQ(on_disk(directory), writer.snapshot());
}

TEST(ReportWriter, AScoreIsOnTheDiskAtOnceAndLeavesTheRecordsAlone) {
  const TemporaryDirectory directory;
  ReportWriter writer = created(directory, sample_plan(2));
  EXPECT_FALSE(on_disk(directory).mutation_score);
  const Report before = on_disk(directory);
  ASSERT_TRUE(writer.update(MutationScore{47, 48, 1}));
  EXPECT_EQ(on_disk(directory).mutation_score, (MutationScore{47, 48, 1}));
  EXPECT_EQ(on_disk(directory).records, before.records);
}

TEST(ReportWriter, KeepsACounterexampleWithoutAnElement) {
  const TemporaryDirectory directory;
  const Report plan = sample_plan(1);
  ReportWriter writer = created(directory, plan);
  Record wrong = tested_record(plan.records[0], {&kAll, 1}, 100);
  wrong.first->inputs.clear();
  wrong.first->parts_at = "a write to element 0 past the end of the output";
  wrong.first->smallest->inputs.clear();
  wrong.first->smallest->place = wrong.first->parts_at;
  ASSERT_TRUE(writer.update(0, wrong));
  EXPECT_EQ(on_disk(directory).records[0], wrong);
}

TEST(ReportWriter, CheckpointsAreRateLimitedAndFlushed) {
  const TemporaryDirectory directory;
  const Report plan = sample_plan(1);
  steady_clock::time_point now{};
  ReportWriter writer =
      created(directory, plan, {.checkpoint_interval = milliseconds{1000}, .now = [&] { return now; }});
  const auto checkpoint = [&](std::uint64_t blocks) {
    const BlockRange done{0, blocks};
    ASSERT_TRUE(writer.checkpoint(0, tested_record(plan.records[0], {&done, 1}, 0)));
  };
  const auto blocks_on_disk = [&] { return count_blocks(on_disk(directory).records[0].blocks); };

  now += milliseconds{999};
  checkpoint(1);
  EXPECT_EQ(blocks_on_disk(), 0u);
  now += milliseconds{1};
  checkpoint(2);
  EXPECT_EQ(blocks_on_disk(), 2u);
  checkpoint(3);
  EXPECT_EQ(blocks_on_disk(), 2u);
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(blocks_on_disk(), 3u);
  EXPECT_EQ(on_disk(directory).records[0].reason, "the run ended after 3 of 64 blocks");
}

TEST(ReportWriter, ACheckpointOfAShardMeasuresItselfByItsShare) {
  const TemporaryDirectory directory;
  Report plan = sample_plan(1);
  plan.shard = {1, 4};
  ReportWriter writer = created(directory, plan, {.checkpoint_interval = milliseconds{0}});
  const BlockRange done{16, 20};
  ASSERT_TRUE(writer.checkpoint(0, tested_record(plan.records[0], {&done, 1}, 0)));
  EXPECT_EQ(on_disk(directory).records[0].reason, "the run ended after 4 of 16 blocks");
}

TEST(ReportWriter, RefusesADirectoryThatHoldsAReport) {
  const TemporaryDirectory directory;
  { const ReportWriter writer = created(directory, sample_plan(1)); }
  const std::string before = testing::read_text(directory.path() / "report.json");
  const Result<ReportWriter> second = ReportWriter::create(directory.path(), sample_plan(2));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::occupied);
  EXPECT_NE(second.error().remedy.find("--resume"), std::string::npos);
  EXPECT_EQ(testing::read_text(directory.path() / "report.json"), before);
}

TEST(ReportWriter, RefusesADirectoryInWhichAnotherOneWrites) {
  const TemporaryDirectory directory;
  const ReportWriter writer = created(directory, sample_plan(1));
  const Result<ReportWriter> second = ReportWriter::resume(directory.path(), sample_plan(1));
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, ErrorKind::occupied);
}

TEST(ReportWriter, RefusesAPlaceWhereItCannotWrite) {
  const TemporaryDirectory directory;
  testing::write_text(directory.path() / "file", "");
  // Below a file no directory can be made, whoever asks; in /proc not even root can.
  for (const std::filesystem::path& place : {directory.path() / "file", directory.path() / "file" / "below",
                                             std::filesystem::path{"/proc/bitproof"}}) {
    const Result<ReportWriter> writer = ReportWriter::create(place, sample_plan(1));
    ASSERT_FALSE(writer) << place;
    EXPECT_EQ(writer.error().kind, ErrorKind::unwritable);
    EXPECT_NE(writer.error().remedy.find("--report"), std::string::npos);
  }
}

TEST(ReportWriter, LeavesTheOldReportWhenTheNewOneCannotBeWritten) {
  const TemporaryDirectory directory;
  const Report plan = sample_plan(1);
  ReportWriter writer = created(directory, plan);
  const Report before = on_disk(directory);
  // A directory under the temporary name keeps the writer from creating its file, even for root.
  std::filesystem::create_directory(directory.path() / "report.json.part");
  const Result<Done> done = writer.update(0, tested_record(plan.records[0], {&kAll, 1}, 0));
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unwritable);
  EXPECT_EQ(on_disk(directory), before);
  // Once there is room again, nothing was lost.
  std::filesystem::remove(directory.path() / "report.json.part");
  ASSERT_TRUE(writer.flush());
  EXPECT_EQ(on_disk(directory).records[0].verdict, Verdict::bit_exact);
}

TEST(ReportWriter, ManyThreadsLoseNothing) {
  const TemporaryDirectory directory;
  constexpr std::size_t kThreads = 4, kEach = 8;
  const Report plan = sample_plan(kThreads * kEach);
  ReportWriter writer = created(directory, plan);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < kThreads; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t i = t; i < kThreads * kEach; i += kThreads) {
          const BlockRange half{0, kBlocks / 2};
          (void)writer.checkpoint(i, tested_record(plan.records[i], {&half, 1}, 0));
          (void)writer.update(i, tested_record(plan.records[i], {&kAll, 1}, 0));
        }
      });
    }
  }
  for (const Record& record : on_disk(directory).records)
    EXPECT_EQ(record.verdict, Verdict::bit_exact) << record.op;
}

TEST(Resume, ContinuesWithTheRemainingBlocksToTheSameDigest) {
  const TemporaryDirectory directory;
  const Report plan = sample_plan(3);
  const BlockRange some[] = {{0, 5}, {9, 12}};
  {
    ReportWriter writer = created(directory, plan);
    ASSERT_TRUE(writer.update(0, tested_record(plan.records[0], {&kAll, 1}, 0)));
    ASSERT_TRUE(writer.checkpoint(1, tested_record(plan.records[1], some, 1000)));
    ASSERT_TRUE(writer.flush());
  }
  Result<ReportWriter> writer = ReportWriter::resume(directory.path(), plan);
  ASSERT_TRUE(writer) << writer.error().message();
  const Report begun = writer->snapshot();
  EXPECT_TRUE(is_finished(begun.records[0], kAll));
  EXPECT_FALSE(is_finished(begun.records[1], kAll));
  const std::vector<BlockRange> left = remaining(kAll, begun.records[1].blocks);
  EXPECT_EQ(left, (std::vector<BlockRange>{{5, 9}, {12, kBlocks}}));
  const Result<Record> whole = combine(begun.records[1], tested_record(plan.records[1], left, 1000));
  ASSERT_TRUE(whole);
  EXPECT_EQ(*whole, tested_record(plan.records[1], {&kAll, 1}, 1000));
  EXPECT_EQ(begun.records[2].reason, "the run ended before this record");
}

TEST(Resume, StartsAReportWhereThereIsNone) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(ReportWriter::resume(directory.path(), sample_plan(1)));
  EXPECT_EQ(on_disk(directory).records.size(), 1u);
}

TEST(Resume, TriesRefusedAndFailedRecordsAgain) {
  const TemporaryDirectory directory;
  const Report plan = sample_plan(1);
  Record failed = plan.records[0];
  failed.verdict = Verdict::error;
  failed.reason = "the worker died";
  {
    ReportWriter writer = created(directory, plan);
    ASSERT_TRUE(writer.update(0, failed));
  }
  const Result<ReportWriter> writer = ReportWriter::resume(directory.path(), plan);
  ASSERT_TRUE(writer);
  EXPECT_EQ(writer->snapshot().records[0].verdict, Verdict::not_run);
}

TEST(Resume, NamesTheSecondMachineToo) {
  const TemporaryDirectory directory;
  { const ReportWriter writer = created(directory, sample_plan(1)); }
  Report plan = sample_plan(1);
  plan.environment.host = "node2";
  plan.environment.started = "2026-03-02T12:00:00Z";
  const Result<ReportWriter> writer = ReportWriter::resume(directory.path(), plan);
  ASSERT_TRUE(writer) << writer.error().message();
  EXPECT_EQ(writer->snapshot().environment.host, "node1+node2");
  EXPECT_EQ(writer->snapshot().environment.started, "2026-03-01T12:00:00Z");
}

TEST(Resume, RefusesTheReportOfAnotherRun) {
  const TemporaryDirectory directory;
  { const ReportWriter writer = created(directory, sample_plan(2)); }
  const Report plan = sample_plan(2);
  Report build = plan, seed = plan, shard = plan, profile = plan, devices = plan, fewer = plan, other = plan,
         key = plan, device = plan, blocks = plan;
  build.environment.tool_build = "build-2";
  seed.seed = 7;
  shard.shard = {0, 2};
  profile.profile = "pytorch-2.12-cuda";
  devices.environment.devices.clear();
  fewer.records.pop_back();
  std::swap(other.records[0], other.records[1]);
  key.records[0].machine_code_key = "b";
  device.records[0].device = "cuda:1";
  blocks.records[0].blocks_total = 32;
  for (const Report* foreign :
       {&build, &seed, &shard, &profile, &devices, &fewer, &other, &key, &device, &blocks}) {
    const Result<ReportWriter> writer = ReportWriter::resume(directory.path(), *foreign);
    ASSERT_FALSE(writer);
    EXPECT_EQ(writer.error().kind, ErrorKind::foreign) << writer.error().message();
  }
}

TEST(Resume, RefusesADamagedReport) {
  const TemporaryDirectory directory;
  { const ReportWriter writer = created(directory, sample_plan(1)); }
  const std::filesystem::path file = directory.path() / "report.json";
  std::string text = testing::read_text(file);
  text.replace(text.find("node1"), 5, "node9");
  testing::write_text(file, text);
  const Result<ReportWriter> writer = ReportWriter::resume(directory.path(), sample_plan(1));
  ASSERT_FALSE(writer);
  EXPECT_EQ(writer.error().kind, ErrorKind::damaged);
}

}  // namespace
}  // namespace bitproof::conformance
