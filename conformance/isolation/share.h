// What is left to do of a check on one device, and what is told of it while it is done.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "conformance/check.h"
#include "conformance/report/record.h"

namespace bitproof::conformance {

struct Share {
  std::size_t check = 0;  // its number, by which the events call it
  std::string implementation, device;
  std::function<std::unique_ptr<Check>()> start;
  std::vector<std::uint64_t> blocks;
  std::chrono::milliseconds time_limit{};  // for making the check, and for each block
};

// Told one at a time, from any thread. Of a share: started, then begun and block_done for every block (several
// may have begun before one is done), then finished; or failed at any point, after which nothing more is told
// of it.
class CheckEvents {
 public:
  virtual ~CheckEvents() = default;
  virtual void started(std::size_t check) = 0;
  virtual void begun(std::size_t check, std::uint64_t block) = 0;
  virtual void block_done(std::size_t check, Record of_block) = 0;
  virtual void finished(std::size_t check) = 0;
  virtual void failed(std::size_t check, std::string reason) = 0;
};

// Runs shares in this process, in order. A block whose record is an error is the last of its share. Stops after
// the first share that failed, since what made it throw may have broken the process (a lost context, a spoiled
// heap). Returns how many were run, the failed one included.
std::size_t run_shares(std::span<const Share> shares, CheckEvents& events);

}  // namespace bitproof::conformance
