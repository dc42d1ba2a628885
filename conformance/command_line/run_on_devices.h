// A run over several GPUs of this host: a worker each, then one report.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bitproof::conformance {

struct DeviceRun {
  std::vector<std::string> gpus;       // "cuda:0", ...: worker i tests shard i of their number
  std::vector<std::string> hosts;      // "cpu", "emulated": a further worker each
  std::vector<std::string> arguments;  // of `run`, which every worker gets
  std::filesystem::path directory;     // of the merged report; a worker's is below it, named like its device
  bool json = false;
};

// Returns the exit status: a mismatch (1) outranks what could not run (3).
int run_on_devices(const DeviceRun& run);

}  // namespace bitproof::conformance
