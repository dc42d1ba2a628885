#include "conformance/runner/runner.h"

#include <chrono>
#include <exception>
#include <mutex>

#include <tbb/parallel_for_each.h>

#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

// Accumulates the blocks of one check, and stops it at the first thing that ends it.
class Sweep {
 public:
  Sweep(Check& check, Record so_far, std::size_t index, std::uint64_t blocks, ReportWriter& writer,
        const RunnerOptions& options)
      : check_(check),
        record_(std::move(so_far)),
        index_(index),
        blocks_(blocks),
        writer_(writer),
        options_(options) {}

  void run(const std::vector<std::uint64_t>& blocks) {
    last_ = std::chrono::steady_clock::now();
    if (check_.concurrent_blocks()) {
      tbb::parallel_for_each(blocks, [this](std::uint64_t block) { run_block(block); });
    } else {
      for (const std::uint64_t block : blocks) run_block(block);
    }
  }

  Record result() const { return record_; }
  std::optional<Error> write_error() const { return write_error_; }

 private:
  void run_block(std::uint64_t block) {
    if (stopped()) return;
    Record of_block;
    try {
      of_block = check_.run_block(block);
    } catch (const std::exception& failure) {
      of_block = check_.plan();
      of_block.verdict = Verdict::error;
      of_block.reason = "block " + std::to_string(block) + ": " + failure.what();
    }
    add(of_block);
  }

  bool stopped() {
    const std::lock_guard lock(mutex_);
    return record_.verdict == Verdict::error || write_error_.has_value();
  }

  void add(Record of_block) {
    const std::lock_guard lock(mutex_);
    // Wall time since the last block: with concurrent blocks, the sum over blocks would count it several times.
    const auto now = std::chrono::steady_clock::now();
    of_block.seconds = std::chrono::duration<double>(now - last_).count();
    last_ = now;
    Result<Record> sum = combine(record_, of_block);
    if (!sum) {
      record_.verdict = Verdict::error;
      record_.reason = sum.error().message();
    } else {
      record_ = std::move(*sum);
    }
    ++done_;
    if (const Result<Done> written = writer_.checkpoint(index_, record_); !written)
      write_error_ = written.error();
    options_.progress(index_, done_, blocks_);
  }

  Check& check_;
  Record record_;
  std::size_t index_;
  std::uint64_t blocks_;
  ReportWriter& writer_;
  const RunnerOptions& options_;
  std::mutex mutex_;
  std::uint64_t done_ = 0;
  std::chrono::steady_clock::time_point last_;
  std::optional<Error> write_error_;
};

Record not_run(Record record, std::string reason) {
  record.verdict = Verdict::not_run;
  record.reason = std::move(reason);
  return record;
}

// One block alone proves nothing of the domain, but it may refute.
Record of_one_block(Record record, std::uint64_t block) {
  record = decided(std::move(record), {0, record.blocks_total});
  if (record.verdict == Verdict::not_run || record.verdict == Verdict::bit_exact)
    record = not_run(std::move(record),
                     "only block " + std::to_string(block) + " was asked for; it shows no difference");
  return record;
}

std::vector<std::uint64_t> numbers_of(const std::vector<BlockRange>& ranges) {
  std::vector<std::uint64_t> numbers;
  for (const BlockRange& range : ranges)
    for (std::uint64_t block = range.begin; block < range.end; ++block) numbers.push_back(block);
  return numbers;
}

}  // namespace

Result<Done> run_plan(const std::vector<PlannedCheck>& plan, ReportWriter& writer,
                      const RunnerOptions& options) {
  const Report before = writer.snapshot();
  for (std::size_t i = 0; i < plan.size(); ++i) {
    Record record = before.records[i];
    const BlockRange share = options.only_block ? BlockRange{*options.only_block, *options.only_block + 1}
                                                : share_of(options.shard, record.blocks_total);
    if (is_finished(record, share)) {
      options.finished(record);
      continue;
    }
    if (!plan[i].start) {
      record = not_run(std::move(record), plan[i].unavailable);
    } else if (share.begin >= share.end) {
      record = not_run(std::move(record), "this shard has no block of the domain");
    } else {
      try {
        const std::unique_ptr<Check> check = plan[i].start();
        const std::vector<std::uint64_t> blocks = numbers_of(remaining(share, record.blocks));
        record.verdict = Verdict::not_run;
        record.reason.clear();
        Sweep sweep(*check, std::move(record), i, blocks.size(), writer, options);
        sweep.run(blocks);
        if (sweep.write_error()) return *sweep.write_error();
        record = options.only_block ? of_one_block(sweep.result(), *options.only_block)
                                    : options.conclude(decided(sweep.result(), share));
      } catch (const std::exception& failure) {
        record.verdict = Verdict::error;
        record.reason = failure.what();
      }
    }
    if (const Result<Done> written = writer.update(i, record); !written) return written.error();
    options.finished(record);
  }
  return Done{};
}

}  // namespace bitproof::conformance
