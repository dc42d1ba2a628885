// Who checks the checker: every mutant must be caught, nothing correct accused, and the comparison itself must
// tell one wrong bit from none.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/device/cuda_devices.h"
#include "conformance/mutants/faults.h"
#include "conformance/mutants/sequence.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

// One implementation on one device and dtype, and what became of it.
struct Survival {
  std::string implementation, op, dtype, device;
  bool killed = false;
  std::string domain;        // that killed it
  std::uint64_t inputs = 0;  // that were tested until then, over all domains; of a survivor all
  bool complete = false;     // killed, or tested on all blocks
  std::string how;           // the kind of the difference, or why it refused what must be served
  std::string error;         // why it is not known; an error is no difference, and kills nobody
  bool survived() const { return !killed && error.empty(); }
};

struct MutantResult {
  Fault fault = Fault::none;
  std::vector<Survival> trials;  // one per device and dtype
  bool killed() const;           // in every trial
};

struct NotRun {
  Fault fault = Fault::none;
  std::string reason;
};

// An implementation of which it is known whether it must be killed.
struct Control {
  std::string what;
  bool must_be_killed = false;
  Survival survival;
  bool as_it_must() const { return survival.complete && survival.killed == must_be_killed; }
};

struct SelfTestResult {
  std::vector<MutantResult> mutants;
  std::vector<NotRun> not_run;
  std::vector<Survival> unmutated;  // correct implementations; each killed one is a false alarm
  std::vector<Control> controls;
  double seconds = 0;

  MutationScore score() const;
  bool controls_hold() const;
  // Of all trials, those that ended by an error.
  std::uint64_t errors() const;
  // No correct implementation was left untested in part.
  bool all_complete() const;
  // All caught, no false alarm, a score that means something, and something ran.
  bool passed() const;
  // A mutant or the control that must be killed survived, or something correct was killed.
  bool failed() const;
  // Whether the score means something: controls hold, all that is correct was compared, and no error hides what
  // would have become of a mutant.
  bool scored() const;
};

struct SelfTestOptions {
  bool cpu = true;
  std::optional<CudaDevice> gpu;
  std::string no_gpu_because;  // without one
  SequenceSeeds seeds;
  std::optional<std::chrono::seconds> time_limit;  // of a block
  std::function<void(std::uint64_t done, std::uint64_t total)> progress = [](std::uint64_t, std::uint64_t) {};
};

// Runs in worker processes; CUDA must not be in use in this one.
SelfTestResult run_self_test(const SelfTestOptions& options);

}  // namespace bitproof::conformance
