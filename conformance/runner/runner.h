// Runs a plan: every check over its share of blocks, records written as they grow.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/check.h"
#include "conformance/report/report_writer.h"
#include "conformance/report/result.h"
#include "conformance/report/shard.h"

namespace bitproof::conformance {

struct RunnerOptions {
  Shard shard;
  std::optional<std::uint64_t> only_block;  // reproduce one block instead of the share

  // In worker processes (isolation/isolated_shares.h), or in this one: under a debugger, and where CUDA is in
  // use already. Limits hold for workers only: of a block (and of making a check), else that of its domain; of
  // the memory of a worker on the CPU in bytes, 0 for none.
  bool isolated = true;
  std::optional<std::chrono::seconds> time_limit;
  std::uint64_t memory_bytes = 0;

  // Called after every block: check number, blocks done and to do of that check. May be called by any thread,
  // one at a time.
  std::function<void(std::size_t check, std::uint64_t done, std::uint64_t to_do)> progress =
      [](std::size_t, std::uint64_t, std::uint64_t) {};
  // Called when a record is final.
  std::function<void(const Record&)> finished = [](const Record&) {};
};

// Runs the checks, implementation after implementation; record i of the writer's report is that of plan[i].
// What was finished or tested before (a resumed report) is not run again. A check that throws, crashes or hangs
// becomes `error` and the run goes on. Errors are those of the writer: the report could not be written.
Result<Done> run_plan(const std::vector<PlannedCheck>& plan, ReportWriter& writer,
                      const RunnerOptions& options);

// The record of one check over its whole domain, run in a worker process, without a report.
Record run_check_isolated(const PlannedCheck& check, const RunnerOptions& options = {});

}  // namespace bitproof::conformance
