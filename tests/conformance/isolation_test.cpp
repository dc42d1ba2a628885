// Worker processes: whatever an implementation does to itself, the others are still tested, and nothing is left
// behind.
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "conformance/isolation/event_line.h"
#include "conformance/isolation/isolated_shares.h"
#include "conformance/isolation/worker_process.h"
#include "conformance/known_digests.h"
#include "conformance/runner/runner.h"
#include "tests/conformance/elementwise_samples.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;
using testing::kBiased;
using testing::TemporaryDirectory;

constexpr std::uint64_t kWorkerBlocks = 5;

// The right bits, but in block 3 `fault` happens first. Blocks run one after the other.
class FaultyCheck final : public Check {
 public:
  explicit FaultyCheck(std::function<void()> fault)
      : check_(make_host_check(
            testing::subject(kBiased, Dtype::fp16, host_implementations().front(),
                             testing::random_domain(kBiased, Dtype::fp16, kWorkerBlocks, 4, 48)))),
        fault_(std::move(fault)) {}
  Record plan() const override { return check_->plan(); }
  Record run_block(std::uint64_t block) override {
    if (block == 3) fault_();
    return check_->run_block(block);
  }
  bool concurrent_blocks() const override { return false; }

 private:
  std::unique_ptr<Check> check_;
  std::function<void()> fault_;
};

PlannedCheck faulty(std::function<void()> fault) {
  PlannedCheck check;
  check.record = FaultyCheck([] {}).plan();
  check.start = [fault = std::move(fault)] { return std::make_unique<FaultyCheck>(fault); };
  return check;
}

Record run(std::function<void()> fault, const RunnerOptions& options = {}) {
  return run_check_isolated(faulty(std::move(fault)), options);
}

// Ends by the signal itself: a sanitizer's handler would exit with a report of its own.
void crash() {
  std::signal(SIGSEGV, SIG_DFL);
  std::raise(SIGSEGV);
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

TEST(Isolation, ACrashIsAnErrorInItsBlockAndKeepsWhatWasDone) {
  const Record record = run(crash);
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(record.reason, "block 3: the worker ended by signal 11, segmentation fault");
  EXPECT_EQ(record.blocks, (std::vector<BlockRange>{{0, 3}}));
  EXPECT_EQ(record.tested, 3u * 4 * 48);
}

TEST(Isolation, AnAbortIsAnError) {
  EXPECT_EQ(run([] {
              std::signal(SIGABRT, SIG_DFL);
              std::abort();
            }).reason,
            "block 3: the worker ended by signal 6, aborted");
}

TEST(Isolation, AnExitIsAnErrorWhateverItsStatus) {
  EXPECT_EQ(run([] { ::_exit(0); }).reason, "block 3: the worker exited before it was done");
  EXPECT_EQ(run([] { ::_exit(7); }).reason, "block 3: the worker exited with status 7");
}

TEST(Isolation, AHangIsAnErrorAfterTheTimeLimit) {
  RunnerOptions options;
  options.time_limit = std::chrono::seconds{1};
  const Record record = run(hang, options);
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(record.reason, "block 3: the worker hangs: nothing came of it in 1 s");
  EXPECT_EQ(record.blocks, (std::vector<BlockRange>{{0, 3}}));
}

TEST(Isolation, ACheckThatCannotBeMadeIsAnError) {
  PlannedCheck check = faulty([] {});
  check.start = []() -> std::unique_ptr<Check> {
    crash();
    return nullptr;
  };
  EXPECT_EQ(run_check_isolated(check).reason,
            "before its first block: the worker ended by signal 11, segmentation fault");
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // which reserve far more than any limit
TEST(Isolation, ExhaustedMemoryIsAnError) {
  RunnerOptions options;
  options.memory_bytes = std::uint64_t{1} << 29;
  const auto devour = [] {
    std::vector<std::vector<char>> eaten;
    for (;;) eaten.emplace_back(std::size_t{1} << 26, 'x');
  };
  const Record record = run(devour, options);
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(record.reason, "block 3: std::bad_alloc");
}
#endif

TEST(Isolation, TheRunGoesOnAfterAnythingThatEndsAWorker) {
  const std::vector<PlannedCheck> plan{faulty(crash),
                                       faulty([] {}),
                                       faulty([] { ::_exit(3); }),
                                       faulty([] {}),
                                       faulty([] { throw std::runtime_error("an illegal memory access"); }),
                                       faulty([] {})};
  Report report;
  report.environment = testing::sample_environment();
  report.profile = "pytorch-2.11-cuda";
  report.seed = 42;
  for (const PlannedCheck& check : plan) report.records.push_back(check.record);
  report.run_id = run_id_of(report);
  const TemporaryDirectory directory;
  Result<ReportWriter> writer = ReportWriter::create(directory.path() / "report", report);
  ASSERT_TRUE(writer);
  ASSERT_TRUE(run_plan(plan, *writer, {}));

  const Result<Report> read = parse_report(directory.path() / "report");
  ASSERT_TRUE(read);
  std::vector<Verdict> verdicts;
  for (const Record& record : read->records) verdicts.push_back(record.verdict);
  EXPECT_EQ(verdicts, (std::vector<Verdict>{Verdict::error, Verdict::bit_exact, Verdict::error,
                                            Verdict::bit_exact, Verdict::error, Verdict::bit_exact}));
}

// --- Nothing is left running
// -----------------------------------------------------------------------------------

// Orphans become children of this process, so that their end can be waited for.
class Reaper {
 public:
  Reaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 1); }
  ~Reaper() { ::prctl(PR_SET_CHILD_SUBREAPER, 0); }
};

// The signal that ended `process`, whose end this waits for.
int ending_signal_of(pid_t process) {
  int status = 0;
  return ::waitpid(process, &status, 0) == process && WIFSIGNALED(status) ? WTERMSIG(status) : -1;
}

pid_t read_process(const std::filesystem::path& file) { return std::stoi(testing::read_text(file)); }

void write_process(const std::filesystem::path& file, pid_t process) {
  testing::write_text(file, std::to_string(process));
}

TEST(Isolation, WhatAWorkerStartedEndsWithIt) {
  const Reaper reaper;
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "grandchild";
  const Record record = run([file] {
    const pid_t grandchild = ::fork();
    if (grandchild == 0) hang();
    write_process(file, grandchild);
    crash();
  });
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(ending_signal_of(read_process(file)), SIGKILL);
}

// A process that runs a hanging check and is sent `signal` meanwhile.
void expect_worker_ends_with_its_parent(int signal) {
  const Reaper reaper;
  const TemporaryDirectory directory;
  const std::filesystem::path file = directory.path() / "worker";
  const pid_t parent = ::fork();
  if (parent == 0) {
    (void)run([file, signal] {
      write_process(file, ::getpid());
      ::kill(::getppid(), signal);
      hang();
    });
    ::_exit(0);
  }
  EXPECT_EQ(ending_signal_of(parent), signal);
  EXPECT_EQ(ending_signal_of(read_process(file)), SIGKILL);
}

TEST(Isolation, WorkersEndWhenTheirParentIsKilled) { expect_worker_ends_with_its_parent(SIGKILL); }

TEST(Isolation, WorkersEndWhenTheirParentIsInterrupted) { expect_worker_ends_with_its_parent(SIGINT); }

// --- What goes through the pipe
// ----------------------------------------------------------------------------------

TEST(WorkerProcess, KeepsStandardOutputForItsParent) {
  ::testing::internal::CaptureStdout();
  const Result<std::vector<std::string>> answer = ask_child(
      [](const SendLine& send) {
        std::printf("noise of a kernel\n");
        send("an answer");
      },
      std::chrono::seconds{60});
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  ASSERT_TRUE(answer);
  EXPECT_EQ(*answer, std::vector<std::string>{"an answer"});
}

TEST(WorkerProcess, ATooLateAnswerIsAnError) {
  const Result<std::vector<std::string>> answer =
      ask_child([](const SendLine&) { hang(); }, std::chrono::seconds{1});
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().what, "no answer in 1 s");
}

struct Told final : CheckEvents {
  void started(std::size_t check) override { words += "started " + std::to_string(check) + ';'; }
  void begun(std::size_t check, std::uint64_t block) override {
    words += "begun " + std::to_string(check) + ' ' + std::to_string(block) + ';';
  }
  void block_done(std::size_t check, Record of_block) override {
    words += "block " + std::to_string(check) + ';';
    record = of_block;
  }
  void finished(std::size_t check) override { words += "finished " + std::to_string(check) + ';'; }
  void failed(std::size_t check, std::string reason) override {
    words += "failed " + std::to_string(check) + ' ' + reason + ';';
  }
  std::string words;
  Record record;
};

TEST(EventLine, SaysWhatWasSent) {
  Told told;
  const SendLine send = [&told](std::string_view line) { EXPECT_TRUE(tell(line, told)) << line; };
  EventSender sender(send);
  const Record record = FaultyCheck([] {}).run_block(0);
  sender.started(7);
  sender.begun(7, 123456789012345);
  sender.block_done(7, record);
  sender.failed(8, "two\nlines, and a space ");
  sender.finished(9);
  EXPECT_EQ(told.words,
            "started 7;begun 7 123456789012345;block 7;failed 8 two lines, and a space ;finished 9;");
  EXPECT_EQ(told.record, record);
}

TEST(EventLine, RefusesWhatIsNone) {
  Told told;
  for (const char* const line : {"", "started", "started x", "begun 1", "begun 1 -3", "block 1", "block 1 {}",
                                 "block 1 {\"operator\":", "ended 1", "started 99999999999999999999"})
    EXPECT_FALSE(tell(line, told)) << line;
  EXPECT_EQ(told.words, "");
}

// --- Digests that implementations share
// ----------------------------------------------------------------------------

Record block_with_digests(std::uint64_t digest, std::uint64_t expected) {
  Record record = FaultyCheck([] {}).plan();
  record.blocks = {{2, 3}};
  record.digest = digest;
  record.expected_digest = expected;
  return record;
}

TEST(KnownDigests, LearnsOnlyWhatOutputsConfirmed) {
  KnownDigests digests;
  const BlockOfDomain block = BlockOfDomain::of(FaultyCheck([] {}).plan(), 2);
  digests.learn(block_with_digests(5, 6));  // one of the two is wrong, and who knows which
  EXPECT_EQ(digests.find(block), std::nullopt);
  digests.learn(block_with_digests(0, 0));  // a refused block has no outputs
  EXPECT_EQ(digests.find(block), std::nullopt);
  digests.learn(block_with_digests(6, 6));
  EXPECT_EQ(digests.find(block), std::optional<std::uint64_t>{6});
  EXPECT_EQ(digests.find(BlockOfDomain::of(FaultyCheck([] {}).plan(), 3)), std::nullopt);
}

}  // namespace
}  // namespace bitproof::conformance
