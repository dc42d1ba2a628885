#include "conformance/isolation/isolated_shares.h"

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "conformance/isolation/event_line.h"
#include "conformance/isolation/worker_process.h"

namespace bitproof::conformance {
namespace {

using Clock = std::chrono::steady_clock;

// "block 3", "one of the blocks 3, 4"
std::string words_for(const std::set<std::uint64_t>& blocks) {
  if (blocks.empty()) return "between two blocks";
  std::string words;
  for (const std::uint64_t block : blocks) words += (words.empty() ? "" : ", ") + std::to_string(block);
  return (blocks.size() == 1 ? "block " : "one of the blocks ") + words;
}

std::string seconds(std::chrono::milliseconds duration) {
  std::string text = std::to_string(static_cast<double>(duration.count()) / 1000);
  text.erase(std::max(text.find_last_not_of('0'), text.find('.') - 1) + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + " s";
}

// A job of a lane in the hands of a worker: which of its shares are done, and where it is in the one after
// those.
class JobInWork final : public CheckEvents {
 public:
  JobInWork(std::vector<Share> shares, CheckEvents& events) : shares_(std::move(shares)), events_(events) {}

  // Null when all are done.
  const Share* current() const { return done_ < shares_.size() ? &shares_[done_] : nullptr; }
  bool expects_exit() const { return failed_ || done_ == shares_.size(); }

  // The worker ended before it was done, in this way.
  void ended(const std::string& how) {
    failed(current()->check, (made_ ? words_for(begun_) : "before its first block") + ": the worker " + how);
  }

  // What the next worker has to do.
  std::vector<Share> take_rest() {
    shares_.erase(shares_.begin(), shares_.begin() + static_cast<std::ptrdiff_t>(done_));
    return std::move(shares_);
  }

  // Whatever number the worker says, it has this share.
  void started(std::size_t) override {
    made_ = true;
    events_.started(current()->check);
  }
  void begun(std::size_t, std::uint64_t block) override {
    begun_.insert(block);
    events_.begun(current()->check, block);
  }
  void block_done(std::size_t, Record of_block) override {
    for (const BlockRange& range : of_block.blocks) begun_.erase(range.begin);
    events_.block_done(current()->check, std::move(of_block));
  }
  void finished(std::size_t) override {
    const std::size_t check = current()->check;
    next();
    events_.finished(check);
  }
  void failed(std::size_t, std::string reason) override {
    const std::size_t check = current()->check;
    failed_ = true;
    next();
    events_.failed(check, std::move(reason));
  }

 private:
  void next() {
    ++done_;
    made_ = false;
    begun_.clear();
  }

  std::vector<Share> shares_;
  CheckEvents& events_;
  std::size_t done_ = 0;
  bool made_ = false;              // the check of the current share was
  std::set<std::uint64_t> begun_;  // its blocks that were begun and are not done
  bool failed_ = false;            // the worker will exit
};

// The work of one device, one worker at a time.
class Lane {
 public:
  Lane(CheckEvents& events, std::uint64_t memory_bytes) : events_(events), memory_bytes_(memory_bytes) {}

  void add(Share share) {
    if (jobs_.empty() || jobs_.back().front().implementation != share.implementation) jobs_.emplace_back();
    jobs_.back().push_back(std::move(share));
  }

  // The worker at work; null when all is done.
  const WorkerProcess* worker() {
    while (!worker_ && !jobs_.empty()) start_worker();
    return worker_ ? &*worker_ : nullptr;
  }

  Clock::time_point deadline() const { return deadline_; }

  // Takes what the worker has to say, and ends one that is done, dead or late.
  void step() {
    for (const std::string& line : worker_->take_lines()) {
      if (job_->expects_exit() || !tell(line, *job_)) return end_worker("sent what is no message of a worker");
      renew_deadline();
    }
    if (worker_->finished()) {
      end_worker("");
    } else if (Clock::now() >= deadline_) {
      end_worker("hangs: nothing came of it in " + seconds(time_limit_));
    }
  }

 private:
  void start_worker() {
    std::vector<Share> shares = std::move(jobs_.front());
    jobs_.pop_front();
    Result<WorkerProcess> started = WorkerProcess::start(
        [&shares](const SendLine& send) {
          EventSender sender(send);
          (void)run_shares(shares, sender);
        },
        memory_bytes_);
    job_.emplace(std::move(shares), events_);
    renew_deadline();
    if (started) {
      worker_ = *std::move(started);
    } else {
      job_->ended("could not be started: " + started.error().message());
      give_back_rest();
    }
  }

  void renew_deadline() {
    if (const Share* const share = job_->current()) time_limit_ = share->time_limit;
    deadline_ = Clock::now() + time_limit_;
  }

  // `cause` is empty where the worker ended of itself.
  void end_worker(std::string cause) {
    const std::string ending = worker_->stop();
    worker_.reset();
    if (cause.empty()) cause = ending.empty() ? "exited before it was done" : ending;
    if (!job_->expects_exit()) job_->ended(cause);
    give_back_rest();
  }

  void give_back_rest() {
    if (std::vector<Share> rest = job_->take_rest(); !rest.empty()) jobs_.push_front(std::move(rest));
    job_.reset();
  }

  CheckEvents& events_;
  std::uint64_t memory_bytes_;
  std::deque<std::vector<Share>> jobs_;  // the shares of one implementation each
  std::optional<JobInWork> job_;
  std::optional<WorkerProcess> worker_;
  std::chrono::milliseconds time_limit_{};
  Clock::time_point deadline_;
};

// Runs the lanes at the same time.
void run_lanes(std::deque<Lane>& lanes, const std::function<bool()>& stop) {
  while (!stop()) {
    std::vector<Lane*> active;
    std::vector<const WorkerProcess*> workers;
    for (Lane& lane : lanes)
      if (const WorkerProcess* const worker = lane.worker()) {
        active.push_back(&lane);
        workers.push_back(worker);
      }
    if (active.empty()) return;
    const auto first = std::ranges::min(active, {}, [](const Lane* lane) { return lane->deadline(); });
    wait_for_any(workers, std::chrono::ceil<std::chrono::milliseconds>(first->deadline() - Clock::now()));
    for (Lane* const lane : active) lane->step();
  }
}

}  // namespace

void run_isolated(std::vector<Share> shares, CheckEvents& events, const IsolationOptions& options) {
  const StopWorkersOnSignal stop_workers_on_signal;
  const auto is_gpu = [](const Share& share) { return share.device.starts_with("cuda"); };
  // One implementation after the other, in the order in which they first appear.
  std::vector<std::string> order;
  for (const Share& share : shares)
    if (std::ranges::find(order, share.implementation) == order.end()) order.push_back(share.implementation);
  std::ranges::stable_sort(shares, {}, [&order](const Share& share) {
    return std::ranges::find(order, share.implementation) - order.begin();
  });
  // GPUs work side by side; the CPU, whose checks use all its cores, before them.
  for (const bool gpus : {false, true}) {
    std::deque<Lane> lanes;
    std::vector<std::string> devices;
    for (Share& share : shares) {
      if (is_gpu(share) != gpus) continue;
      const auto found = std::ranges::find(devices, share.device);
      const auto lane = static_cast<std::size_t>(found - devices.begin());
      if (found == devices.end()) {
        devices.push_back(share.device);
        lanes.emplace_back(events, gpus ? 0 : options.memory_bytes);
      }
      lanes[lane].add(std::move(share));
    }
    run_lanes(lanes, options.stop);
  }
}

}  // namespace bitproof::conformance
