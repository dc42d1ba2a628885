#include "conformance/isolation/share.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <utility>

#include <tbb/parallel_for_each.h>

namespace bitproof::conformance {
namespace {

// The blocks of one check, and who may still run one.
class BlockLoop {
 public:
  BlockLoop(const Share& share, CheckEvents& events) : share_(share), events_(events) {}

  bool run() {
    try {
      check_ = share_.start();
    } catch (const std::exception& failure) {
      events_.failed(share_.check, failure.what());
      return false;
    }
    last_ = Clock::now();
    events_.started(share_.check);
    if (check_->concurrent_blocks()) {
      tbb::parallel_for_each(share_.blocks, [this](std::uint64_t block) { run_block(block); });
    } else {
      for (const std::uint64_t block : share_.blocks) run_block(block);
    }
    if (failed_) return false;
    check_.reset();
    events_.finished(share_.check);
    return true;
  }

 private:
  using Clock = std::chrono::steady_clock;

  void run_block(std::uint64_t block) {
    {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      events_.begun(share_.check, block);
    }
    try {
      Record of_block = check_->run_block(block);
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      ended_ = of_block.verdict == Verdict::error;
      of_block.seconds = seconds_since_last();
      events_.block_done(share_.check, std::move(of_block));
    } catch (const std::exception& failure) {
      const std::lock_guard lock(mutex_);
      if (ended_) return;
      ended_ = failed_ = true;
      events_.failed(share_.check, "block " + std::to_string(block) + ": " + failure.what());
    }
  }

  // Wall time since the last block was done: of concurrent blocks each one's own would count it several times.
  double seconds_since_last() {
    const Clock::time_point before = std::exchange(last_, Clock::now());
    return std::chrono::duration<double>(last_ - before).count();
  }

  const Share& share_;
  CheckEvents& events_;
  std::unique_ptr<Check> check_;
  std::mutex mutex_;
  Clock::time_point last_{};
  bool ended_ = false, failed_ = false;
};

}  // namespace

std::size_t run_shares(std::span<const Share> shares, CheckEvents& events) {
  for (std::size_t i = 0; i < shares.size(); ++i)
    if (!BlockLoop(shares[i], events).run()) return i + 1;
  return shares.size();
}

}  // namespace bitproof::conformance
