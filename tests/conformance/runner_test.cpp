// Runs of whole plans: shards, resuming, threads, and checks that fail.
#include "conformance/runner/runner.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include "conformance/report/combine.h"
#include "conformance/runner/plan.h"
#include "tests/conformance/elementwise_samples.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;
using testing::kBiased;
using testing::TemporaryDirectory;

constexpr std::uint64_t kBlocks = 13;

ElementwiseImplementation wrong_in_block_seven() {
  // The input of the block's first element tells which block it is.
  const std::uint16_t seventh =
      testing::random_domain(kBiased, Dtype::fp16, kBlocks, 4, 48).make_case(7).source.input(0, 0);
  return testing::spoiled_implementation([seventh](const Tensors& t) {
    if (testing::data_of(t.input)[0] == seventh) testing::data_of(t.output)[50] ^= 1;
  });
}

ElementwiseSubject sample(ElementwiseImplementation implementation = host_implementations().front()) {
  return testing::subject(kBiased, Dtype::fp16, std::move(implementation),
                          testing::random_domain(kBiased, Dtype::fp16, kBlocks, 4, 48));
}

Report report_of(const std::vector<PlannedCheck>& plan, const Shard& shard = {}) {
  Report report;
  report.environment = testing::sample_environment();
  report.profile = "pytorch-2.11-cuda";
  report.seed = 42;
  report.shard = shard;
  for (const PlannedCheck& check : plan) report.records.push_back(check.record);
  report.run_id = run_id_of(report);
  return report;
}

// The records of a run in a directory of its own.
std::vector<Record> run(const std::vector<PlannedCheck>& plan, const RunnerOptions& options = {}) {
  const TemporaryDirectory directory;
  Result<ReportWriter> writer =
      ReportWriter::create(directory.path() / "report", report_of(plan, options.shard));
  if (!writer) throw std::runtime_error(writer.error().message());
  const Result<Done> done = run_plan(plan, *writer, options);
  if (!done) throw std::runtime_error(done.error().message());
  return writer->snapshot().records;
}

// In this process, so that a check can be watched.
RunnerOptions watched_run() {
  RunnerOptions options;
  options.isolated = false;
  return options;
}

RunnerOptions of_shard(std::uint64_t index, std::uint64_t count) {
  RunnerOptions options = watched_run();
  options.shard = {index, count};
  return options;
}

RunnerOptions of_block(std::uint64_t block) {
  RunnerOptions options;
  options.only_block = block;
  return options;
}

// All that does not depend on when it ran.
Record timeless(Record record) {
  record.seconds = 0;
  return record;
}

TEST(Runner, RunsEveryBlockOfEveryCheck) {
  const std::vector<Record> records =
      run({testing::planned(sample()), testing::planned(sample(wrong_in_block_seven()))});
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].verdict, Verdict::bit_exact);
  EXPECT_EQ(records[0].tested, records[0].total);
  EXPECT_EQ(records[0].blocks, (std::vector<BlockRange>{{0, kBlocks}}));
  EXPECT_EQ(records[0].digest, records[0].expected_digest);
  EXPECT_EQ(records[1].verdict, Verdict::mismatch);
  EXPECT_EQ(records[1].mismatches, 1u);
  EXPECT_EQ(records[1].first->block, 7u);
  EXPECT_EQ(records[1].first->row, 1u);
  EXPECT_EQ(records[1].first->column, 2u);
}

TEST(Runner, GivesTheSameRecordsInWorkersAndInThisProcess) {
  const std::vector<PlannedCheck> plan{testing::planned(sample()),
                                       testing::planned(sample(wrong_in_block_seven()))};
  const std::vector<Record> isolated = run(plan), together = run(plan, watched_run());
  for (std::size_t i = 0; i < plan.size(); ++i) EXPECT_EQ(timeless(isolated[i]), timeless(together[i]));
}

TEST(Runner, DevicesOfOneArchitectureShareTheBlocks) {
  const auto on = [](const std::string& device) {
    ElementwiseSubject subject = sample(wrong_in_block_seven());
    subject.identity.device = device;
    return testing::planned(subject);
  };
  const std::vector<PlannedCheck> plan = shared_among_gpus({on("cuda:0"), on("cuda:1"), on("cpu")});
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(plan[0].record.device, "cuda:0+cuda:1");
  const std::vector<Record> records = run(plan);
  Record whole = records[1];
  EXPECT_EQ(records[0].device, "cuda:0+cuda:1");
  EXPECT_EQ(records[0].digest, whole.digest);
  EXPECT_EQ(records[0].tested, whole.tested);
  EXPECT_EQ(records[0].blocks, (std::vector<BlockRange>{{0, kBlocks}}));
  EXPECT_EQ(records[0].mismatches, 1u);
}

RC_GTEST_PROP(RunnerProperty, ShardsAddUpToTheUnshardedRun, ()) {
  const std::vector<PlannedCheck> plan{testing::planned(sample(wrong_in_block_seven()))};
  const Record whole = run(plan).front();
  const auto count = *rc::gen::inRange<std::uint64_t>(1, kBlocks + 3);
  Record sum = plan.front().record;
  for (std::uint64_t index = 0; index < count; ++index) {
    Result<Record> next = combine(sum, run(plan, of_shard(index, count)).front());
    RC_ASSERT(static_cast<bool>(next));
    sum = *std::move(next);
  }
  RC_ASSERT(timeless(decided(sum, {0, kBlocks})) == timeless(whole));
}

TEST(Runner, AShardWithoutABlockSaysSo) {
  const auto values = testing::subject(kBiased, Dtype::fp16, host_implementations().front(),
                                       *make_domain("values", kBiased, Dtype::fp16, Location::host, 42));
  const Record record = run({testing::planned(values)}, of_shard(0, 2)).front();
  EXPECT_EQ(record.verdict, Verdict::not_run);
  EXPECT_EQ(record.reason, "this shard has no block of the domain");
  EXPECT_EQ(run({testing::planned(values)}, of_shard(1, 2)).front().verdict, Verdict::bit_exact);
}

TEST(Runner, ResultsDoNotDependOnTheNumberOfThreads) {
  const std::vector<PlannedCheck> plan{testing::planned(sample(wrong_in_block_seven()))};
  std::vector<Record> records;
  for (const std::size_t threads : {1, 2, 7}) {
    const tbb::global_control control(tbb::global_control::max_allowed_parallelism, threads);
    records.push_back(timeless(run(plan).front()));
  }
  EXPECT_EQ(records[0], records[1]);
  EXPECT_EQ(records[0], records[2]);
}

// A check that notes its blocks, calls a hook before each, and otherwise is another.
class WatchedCheck final : public Check {
 public:
  WatchedCheck(std::unique_ptr<Check> check, std::function<void(std::uint64_t)> before, bool concurrent)
      : check_(std::move(check)), before_(std::move(before)), concurrent_(concurrent) {}
  Record plan() const override { return check_->plan(); }
  Record run_block(std::uint64_t block) override {
    before_(block);
    return check_->run_block(block);
  }
  bool concurrent_blocks() const override { return concurrent_; }

 private:
  std::unique_ptr<Check> check_;
  std::function<void(std::uint64_t)> before_;
  bool concurrent_;
};

PlannedCheck watched(std::function<void(std::uint64_t)> before, bool concurrent = false) {
  PlannedCheck check = testing::planned(sample());
  check.start = [=] { return std::make_unique<WatchedCheck>(make_host_check(sample()), before, concurrent); };
  return check;
}

TEST(Runner, RunsTheBlocksOfADeviceCheckInOrder) {
  std::vector<std::uint64_t> seen;
  EXPECT_EQ(
      run({watched([&seen](std::uint64_t block) { seen.push_back(block); })}, watched_run()).front().verdict,
      Verdict::bit_exact);
  EXPECT_EQ(seen.size(), kBlocks);
  EXPECT_TRUE(std::ranges::is_sorted(seen));
}

TEST(Runner, ReportsProgressAfterEveryBlockAndEveryFinishedRecord) {
  std::vector<std::uint64_t> done_counts;
  std::vector<std::string> finished;
  RunnerOptions options;
  options.progress = [&](std::size_t check, std::uint64_t done, std::uint64_t to_do) {
    EXPECT_EQ(check, 0u);
    EXPECT_EQ(to_do, kBlocks);
    done_counts.push_back(done);
  };
  options.finished = [&](const Record& record) { finished.push_back(label(record)); };
  (void)run({testing::planned(sample())}, options);
  ASSERT_EQ(done_counts.size(), kBlocks);
  for (std::uint64_t i = 0; i < kBlocks; ++i) EXPECT_EQ(done_counts[i], i + 1);
  EXPECT_EQ(finished, std::vector<std::string>{"bias_gelu_tanh fp16 host.fused random x86_64"});
}

TEST(Runner, AResumedRunTestsOnlyWhatIsLeftAndEndsWithTheSameRecord) {
  const std::vector<PlannedCheck> plan{testing::planned(sample())};
  const Record whole = run(plan).front();
  const TemporaryDirectory directory;
  {
    // A run that was killed after blocks 0 to 4.
    Result<ReportWriter> writer = ReportWriter::create(directory.path() / "report", report_of(plan));
    ASSERT_TRUE(writer);
    const std::unique_ptr<Check> check = plan.front().start();
    Record record = plan.front().record;
    for (std::uint64_t block = 0; block < 5; ++block) record = *combine(record, check->run_block(block));
    ASSERT_TRUE(writer->checkpoint(0, record));
    ASSERT_TRUE(writer->flush());
  }
  std::vector<std::uint64_t> seen;
  const std::vector<PlannedCheck> rest{watched([&seen](std::uint64_t block) { seen.push_back(block); })};
  Result<ReportWriter> writer = ReportWriter::resume(directory.path() / "report", report_of(plan));
  ASSERT_TRUE(writer);
  ASSERT_TRUE(run_plan(rest, *writer, watched_run()));
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{5, 6, 7, 8, 9, 10, 11, 12}));
  EXPECT_EQ(timeless(writer->snapshot().records.front()), timeless(whole));

  // And once more: nothing is left.
  seen.clear();
  ASSERT_TRUE(run_plan(rest, *writer, watched_run()));
  EXPECT_TRUE(seen.empty());
}

TEST(Runner, OneBlockAloneProvesNothing) {
  const Record record = run({testing::planned(sample(wrong_in_block_seven()))}, of_block(6)).front();
  EXPECT_EQ(record.verdict, Verdict::not_run);
  EXPECT_EQ(record.reason, "only block 6 was asked for; it shows no difference");
  EXPECT_EQ(record.tested, 4u * 48);
  EXPECT_EQ(record.blocks, (std::vector<BlockRange>{{6, 7}}));
}

TEST(Runner, OneBlockAloneMayRefute) {
  const Record record = run({testing::planned(sample(wrong_in_block_seven()))}, of_block(7)).front();
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_EQ(record.mismatches, 1u);
}

TEST(Runner, WhatIsNotAvailableIsNotRunAndSaysWhy) {
  PlannedCheck absent = testing::planned(sample());
  absent.start = nullptr;
  absent.unavailable = "no CUDA device: none found; plug one in";
  const Record record = run({absent}).front();
  EXPECT_EQ(record.verdict, Verdict::not_run);
  EXPECT_EQ(record.reason, absent.unavailable);
  EXPECT_EQ(record.tested, 0u);
}

TEST(Runner, ACheckThatThrowsBecomesAnErrorAndTheRunGoesOn) {
  const std::vector<Record> records = run({watched([](std::uint64_t block) {
                                             if (block == 3) throw std::runtime_error("the device is lost");
                                           }),
                                           testing::planned(sample())});
  EXPECT_EQ(records[0].verdict, Verdict::error);
  EXPECT_EQ(records[0].reason, "block 3: the device is lost");
  EXPECT_EQ(records[0].blocks, (std::vector<BlockRange>{{0, 3}})) << "what was tested before is kept";
  EXPECT_EQ(records[1].verdict, Verdict::bit_exact);
}

TEST(Runner, ACheckThatThrowsStopsAtOnce) {
  std::vector<std::uint64_t> seen;
  (void)run({watched([&seen](std::uint64_t block) {
              seen.push_back(block);
              throw std::runtime_error("lost");
            })},
            watched_run());
  EXPECT_EQ(seen, std::vector<std::uint64_t>{0});
}

TEST(Runner, AConcurrentCheckThatThrowsIsAnErrorToo) {
  const Record record =
      run({watched([](std::uint64_t) { throw std::runtime_error("out of memory"); }, true)}).front();
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_TRUE(record.reason.ends_with("out of memory")) << record.reason;
}

TEST(Runner, ACheckThatCannotStartIsAnError) {
  PlannedCheck broken = testing::planned(sample());
  broken.start = []() -> std::unique_ptr<Check> { throw std::runtime_error("no memory"); };
  const std::vector<Record> records = run({broken, testing::planned(sample())});
  EXPECT_EQ(records[0].verdict, Verdict::error);
  EXPECT_EQ(records[0].reason, "no memory");
  EXPECT_EQ(records[1].verdict, Verdict::bit_exact);
}

TEST(Runner, ARefusalIsTheVerdictOfTheRecord) {
  const auto refusing = testing::refusing_implementation("not on Mondays", "not on Mondays");
  const Record record = run({testing::planned(sample(refusing))}).front();
  EXPECT_EQ(record.verdict, Verdict::refused);
  EXPECT_EQ(record.reason, "contiguous: not on Mondays");
}

TEST(Runner, EndsWhenTheReportCannotBeWritten) {
  const TemporaryDirectory directory;
  const std::filesystem::path report = directory.path() / "report";
  const std::vector<PlannedCheck> plan{watched([&report](std::uint64_t block) {
    if (block == 2) std::filesystem::remove_all(report);
  })};
  ReportWriter::Options options;
  options.checkpoint_interval = std::chrono::milliseconds{0};
  Result<ReportWriter> writer = ReportWriter::create(report, report_of(plan), options);
  ASSERT_TRUE(writer);
  const Result<Done> done = run_plan(plan, *writer, watched_run());
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().kind, ErrorKind::unwritable);
}

}  // namespace
}  // namespace bitproof::conformance
