// Kill -9 at 20 random moments: the report is valid each time, and the resumed run comes to the same result.
#include <chrono>
#include <csignal>
#include <random>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/report/combine.h"
#include "conformance/report/report_writer.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

constexpr std::size_t kRecords = 3;
constexpr std::uint64_t kStep = 8;  // blocks between checkpoints

// A run as the runner does it: what is left of each record, in steps, each written to the disk.
bool run(const std::filesystem::path& directory) {
  Result<ReportWriter> writer = ReportWriter::resume(directory, testing::sample_plan(kRecords),
                                                     {.checkpoint_interval = std::chrono::milliseconds{0}});
  if (!writer) return false;
  const Report begun = writer->snapshot();
  for (std::size_t i = 0; i < kRecords; ++i) {
    Record record = begun.records[i];
    const BlockRange share{0, record.blocks_total};
    if (is_finished(record, share)) continue;
    for (const BlockRange& range : remaining(share, record.blocks)) {
      for (std::uint64_t begin = range.begin; begin < range.end; begin += kStep) {
        const BlockRange step{begin, std::min(begin + kStep, range.end)};
        Result<Record> sum =
            combine(record, testing::tested_record(testing::sample_plan(kRecords).records[i], {&step, 1}, 500));
        if (!sum) return false;
        record = *std::move(sum);
        if (!writer->checkpoint(i, record)) return false;
      }
    }
    if (!writer->update(i, decided(record, share))) return false;
  }
  return true;
}

// A run in a child process, which exits with 0 when it is through.
pid_t start_run(const std::filesystem::path& directory) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(run(directory) ? 0 : 1);
  return child;
}

// Of a run in a child process that is killed after `lifetime`; true when it was finished before.
bool finished_before_the_kill(const std::filesystem::path& directory, std::chrono::microseconds lifetime) {
  const pid_t child = start_run(directory);
  ::usleep(static_cast<useconds_t>(lifetime.count()));
  ::kill(child, SIGKILL);
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status) || WEXITSTATUS(status) == 0) << "the run failed by itself";
  return !WIFSIGNALED(status);
}

// How long a run in a child process takes that nobody kills: fast or slow as the machine and the build are.
std::chrono::microseconds time_of_a_run() {
  const testing::TemporaryDirectory directory;
  const auto start = std::chrono::steady_clock::now();
  int status = -1;
  ::waitpid(start_run(directory.path()), &status, 0);
  EXPECT_EQ(status, 0);
  return std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - start);
}

// The records of the whole run, or of the blocks in `report`, computed directly.
std::vector<Record> direct_records(const Report* report) {
  std::vector<Record> records = testing::sample_plan(kRecords).records;
  for (std::size_t i = 0; i < kRecords; ++i) {
    const std::vector<BlockRange> blocks =
        report != nullptr ? report->records[i].blocks : std::vector<BlockRange>{{0, testing::kBlocks}};
    records[i] = testing::tested_record(records[i], blocks, 500);
    if (records[i].tested == 0) records[i].reason = "the run ended before this record";
  }
  return records;
}

TEST(Kill, AReportKilledAtAnyMomentIsValidAndIsCompletedToTheSameRecords) {
  std::mt19937_64 random(20260301);
  std::uniform_int_distribution<long> microseconds(0, time_of_a_run().count());
  // Runs are killed and resumed until they are through; then the next one starts, until there were enough
  // kills.
  int kills = 0;
  for (int attempt = 0; kills < 20;) {
    const testing::TemporaryDirectory directory;
    for (bool finished = false; !finished && kills < 20;) {
      ASSERT_LT(++attempt, 1000) << "the runs make no progress, or none is interrupted";
      finished = finished_before_the_kill(directory.path(), std::chrono::microseconds{microseconds(random)});
      if (!std::filesystem::exists(directory.path() / kReportFile)) continue;  // killed before the first write
      kills += finished ? 0 : 1;
      const Result<Report> report = parse_report(directory.path());
      ASSERT_TRUE(report) << report.error().message();
      ASSERT_EQ(report->records.size(), kRecords);
      ASSERT_EQ(report->records, direct_records(&*report));
    }
    ASSERT_TRUE(run(directory.path()));
    ASSERT_EQ(parse_report(directory.path())->records, direct_records(nullptr));
  }
}

}  // namespace
}  // namespace bitproof::conformance
