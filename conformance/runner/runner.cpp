#include "conformance/runner/runner.h"

#include <chrono>
#include <memory>
#include <span>
#include <utility>

#include "conformance/isolation/isolated_shares.h"
#include "conformance/isolation/share.h"
#include "conformance/isolation/time_limit.h"
#include "conformance/known_digests.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

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

// Where records go: a report, or nowhere.
struct RecordSink {
  std::function<Result<Done>(std::size_t check, const Record&)> checkpoint, update;
};

// The records of a plan as they grow.
class Records final : public CheckEvents {
 public:
  Records(std::vector<Record> before, RecordSink sink, const RunnerOptions& options)
      : sink_(std::move(sink)), options_(options) {
    for (Record& record : before) growing_.push_back({.record = std::move(record)});
  }

  // What is left to do of a check, by each of the devices it can run on. Decides at once what needs no run.
  std::vector<Share> plan(std::size_t index, const PlannedCheck& check) {
    Growing& growing = growing_[index];
    Record& record = growing.record;
    growing.range = options_.only_block ? BlockRange{*options_.only_block, *options_.only_block + 1}
                                        : share_of(options_.shard, record.blocks_total);
    if (is_finished(record, growing.range)) {
      options_.finished(record);
      return {};
    }
    if (!check.start) return decide(index, not_run(record, check.unavailable));
    if (growing.range.begin >= growing.range.end)
      return decide(index, not_run(record, "this shard has no block of the domain"));

    record.verdict = Verdict::not_run;
    record.reason.clear();
    growing.to_do = numbers_of(remaining(growing.range, record.blocks));
    std::vector<Share> shares = deal(index, check, growing.to_do);
    growing.shares = shares.size();
    return shares;
  }

  bool ended() const { return write_error_.has_value(); }
  std::optional<Error> write_error() const { return write_error_; }
  const Record& record(std::size_t index) const { return growing_[index].record; }

  void started(std::size_t) override {}
  void begun(std::size_t, std::uint64_t) override {}

  void block_done(std::size_t check, Record of_block) override {
    Growing& growing = growing_[check];
    KnownDigests::shared().learn(of_block);
    Result<Record> sum = combine(growing.record, of_block);
    if (!sum) {
      growing.record.verdict = Verdict::error;
      growing.record.reason = sum.error().message();
    } else {
      growing.record = *std::move(sum);
    }
    ++growing.done;
    if (const Result<Done> written = sink_.checkpoint(check, growing.record); !written)
      write_error_ = written.error();
    options_.progress(check, growing.done, growing.to_do.size());
  }

  void failed(std::size_t check, std::string reason) override {
    growing_[check].record.verdict = Verdict::error;
    growing_[check].record.reason = std::move(reason);
    finished(check);
  }

  // One device is through with its share.
  void finished(std::size_t check) override {
    Growing& growing = growing_[check];
    if (--growing.shares > 0) return;
    (void)decide(check, options_.only_block ? of_one_block(growing.record, *options_.only_block)
                                            : options_.conclude(decided(growing.record, growing.range)));
  }

 private:
  struct Growing {
    Record record;
    BlockRange range{};
    std::vector<std::uint64_t> to_do{};
    std::size_t shares = 0;  // not finished yet
    std::uint64_t done = 0;  // blocks
  };

  std::vector<Share> decide(std::size_t index, Record record) {
    growing_[index].record = std::move(record);
    if (const Result<Done> written = sink_.update(index, growing_[index].record); !written)
      write_error_ = written.error();
    options_.finished(growing_[index].record);
    return {};
  }

  // Contiguous parts of the blocks, one for every device.
  std::vector<Share> deal(std::size_t index, const PlannedCheck& check,
                          const std::vector<std::uint64_t>& blocks) const {
    std::vector<PlannedCheck::OnDevice> devices = check.devices;
    if (devices.empty()) devices.push_back({check.record.device, check.start});
    const std::chrono::milliseconds time_limit =
        options_.time_limit.value_or(time_limit_of(check.record.domain));
    std::vector<Share> shares;
    for (std::uint64_t i = 0; i < devices.size(); ++i) {
      const BlockRange part = share_of({i, devices.size()}, blocks.size());
      if (part.begin == part.end) continue;
      const auto first = blocks.begin() + static_cast<std::ptrdiff_t>(part.begin);
      const auto last = blocks.begin() + static_cast<std::ptrdiff_t>(part.end);
      shares.push_back({.check = index,
                        .implementation = check.record.implementation,
                        .device = devices[i].device,
                        .start = devices[i].start,
                        .blocks = {first, last},
                        .time_limit = time_limit});
    }
    return shares;
  }

  RecordSink sink_;
  const RunnerOptions& options_;
  std::vector<Growing> growing_;
  std::optional<Error> write_error_;
};

void run(const std::vector<PlannedCheck>& plan, Records& records, const RunnerOptions& options) {
  std::vector<Share> shares;
  for (std::size_t i = 0; i < plan.size() && !records.ended(); ++i)
    for (Share& share : records.plan(i, plan[i])) shares.push_back(std::move(share));
  if (options.isolated) {
    run_isolated(std::move(shares), records,
                 {.memory_bytes = options.memory_bytes, .stop = [&records] { return records.ended(); }});
    return;
  }
  for (std::span<const Share> rest(shares); !rest.empty() && !records.ended();)
    rest = rest.subspan(run_shares(rest, records));
}

}  // namespace

Result<Done> run_plan(const std::vector<PlannedCheck>& plan, ReportWriter& writer,
                      const RunnerOptions& options) {
  const RecordSink report{
      .checkpoint = [&](std::size_t check, const Record& record) { return writer.checkpoint(check, record); },
      .update = [&](std::size_t check, const Record& record) { return writer.update(check, record); }};
  Records records(writer.snapshot().records, report, options);
  run(plan, records, options);
  if (records.write_error()) return *records.write_error();
  return Done{};
}

Record run_check_isolated(const PlannedCheck& check, const RunnerOptions& options) {
  const auto nowhere = [](std::size_t, const Record&) { return Result<Done>(Done{}); };
  Records records({check.record}, {.checkpoint = nowhere, .update = nowhere}, options);
  run({check}, records, options);
  return records.record(0);
}

}  // namespace bitproof::conformance
