// Runs a plan: every check over its share of blocks, records written as they grow.
#pragma once

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
  // Called after every block: check number, blocks done and to do of that check. May be called by any thread,
  // one at a time.
  std::function<void(std::size_t check, std::uint64_t done, std::uint64_t to_do)> progress =
      [](std::size_t, std::uint64_t, std::uint64_t) {};
  // Has the last word on a record that was run: known mismatches are not the runner's concern.
  std::function<Record(Record)> conclude = [](Record record) { return record; };
  // Called when a record is final.
  std::function<void(const Record&)> finished = [](const Record&) {};
};

// Runs the checks in order; record i of the writer's report is that of plan[i]. What was finished or tested
// before (a resumed report) is not run again. A check that throws becomes `error` and the run goes on. Errors
// are those of the writer: the report could not be written.
Result<Done> run_plan(const std::vector<PlannedCheck>& plan, ReportWriter& writer,
                      const RunnerOptions& options);

}  // namespace bitproof::conformance
