// A small world in which the gate is green: a policy, the reports it asks for, known mismatches, the tree and
// the date. Tests change one thing and ask again, through the command line.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/gate/gate.h"
#include "conformance/report/report.h"

namespace bitproof::conformance::testing {

struct World {
  // The CPU half as two shards of one run, and the report of a GPU machine.
  Report cpu_first, cpu_second, gpu;
  std::vector<Report> more;  // passed to the gate too
  nlohmann::json policy;
  nlohmann::json expectations;
  Tree tree;
  std::chrono::sys_seconds now;

  // Records of the GPU report.
  Record& values();       // "gelu_tanh bf16 cuda.fused values sm_90"
  Record& pairs();        // "gelu_tanh bf16 cuda.fused pairs sm_90"
  Record& known_wrong();  // "gelu_tanh bf16 cuda.cublaslt values sm_90"

  // Adds `record` to the policy's waivers.
  void waive(const std::string& finding, const std::string& domain, const std::string& expires);
};

World green_world();

// The GPU record of `domain` with `every`-th element wrong; 0 is none.
Record gpu_record(const std::string& implementation, const std::string& domain, std::uint64_t every);

struct GateRun {
  int status = -1;
  std::string out, err;
  nlohmann::json json;  // of `out`, when it was asked for
};

// Writes the world to files and runs `bitproof gate ... ARGUMENTS`. `damage` may change the text of the GPU
// report.
GateRun run_gate(const World& world, const std::vector<std::string>& arguments = {"--json"},
                 const std::function<std::string(std::string)>& damage = nullptr);

// Runs a command line: "merge", "a.json", "--output", "b.json".
GateRun run_command(const std::vector<std::string>& arguments, const World& world);

}  // namespace bitproof::conformance::testing
