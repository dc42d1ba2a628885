// One worker process per GPU: a run over several devices of one host is split into shards, and their reports
// merged.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "conformance/report/result.h"

namespace bitproof::conformance {

struct Worker {
  std::string name;                    // "cuda:0"; also of its directory below the report's
  std::vector<std::string> arguments;  // of `bitproof`, from the subcommand on
};

struct WorkerExit {
  std::string name;
  int status = 0;      // exit status; 3 for a worker that a signal ended
  std::string reason;  // "ended by signal 9", empty for one that exited
};

// Starts all workers of this executable at once and waits for all of them. Their standard output goes to `log`
// in their directories, which must exist. A worker that cannot be started is one that exited with 3.
std::vector<WorkerExit> run_workers(const std::vector<Worker>& workers, const std::filesystem::path& directory);

}  // namespace bitproof::conformance
