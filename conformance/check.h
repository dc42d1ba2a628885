// One check: an operator and dtype, computed by one implementation on one device, over one domain. The runner
// knows nothing else about what it runs.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "conformance/report/record.h"

namespace bitproof::conformance {

class Check {
 public:
  virtual ~Check() = default;

  // The record before anything ran: identity, totals, number of blocks; verdict not_run.
  virtual Record plan() const = 0;

  // Tests one block. The record has the identity of plan(), the block's counts and digests, and `blocks`
  // holding that one. Throws for what ends the check: a lost device, exhausted memory.
  virtual Record run_block(std::uint64_t block) = 0;

  // Whether blocks may run concurrently, one per thread. Checks on a device use all cores inside a block
  // instead.
  virtual bool concurrent_blocks() const = 0;
};

// A line of the plan. `start` makes the check; it is empty where the check cannot run here, for `unavailable`.
struct PlannedCheck {
  Record record;
  std::function<std::unique_ptr<Check>()> start;
  std::string unavailable;  // "no CUDA device", with the remedy

  // Where several devices of one architecture share the blocks: each of them, and the check on it. Otherwise
  // empty.
  struct OnDevice {
    std::string device;
    std::function<std::unique_ptr<Check>()> start;
  };
  std::vector<OnDevice> devices{};
};

}  // namespace bitproof::conformance
