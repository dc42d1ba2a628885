#include "metrics/media/prefetch.h"

#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

namespace bitproof::metrics {
namespace {

constexpr std::size_t kAhead = 4;  // frames; bounds the memory

using Step = Result<std::optional<Frame>>;

class PrefetchedSource final : public FrameSource {
 public:
  explicit PrefetchedSource(std::unique_ptr<FrameSource> source)
      : source_(std::move(source)), worker_([this](const std::stop_token& stop) { decode(stop); }) {}

  const SourceInfo& info() const override { return source_->info(); }

  // Both are for after the end, when the worker is done.
  std::optional<Digest> stream_digest() const override { return source_->stream_digest(); }
  std::vector<Property> late_properties() const override { return source_->late_properties(); }

  Step next() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return !ready_.empty() || error_; });
    if (ready_.empty()) std::rethrow_exception(error_);
    Step step = std::move(ready_.front());
    ready_.pop_front();
    lock.unlock();
    changed_.notify_all();
    return step;
  }

 private:
  void decode(const std::stop_token& stop) {
    try {
      bool more = true;
      while (more && !stop.stop_requested()) {
        Step step = source_->next();
        more = step && step->has_value();
        std::unique_lock lock(mutex_);
        if (!changed_.wait(lock, stop, [this] { return ready_.size() < kAhead; })) return;
        ready_.push_back(std::move(step));
        lock.unlock();
        changed_.notify_all();
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      error_ = std::current_exception();
      changed_.notify_all();
    }
  }

  std::unique_ptr<FrameSource> source_;
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<Step> ready_;
  std::exception_ptr error_;
  std::jthread worker_;  // last: it uses all of the above
};

}  // namespace

std::unique_ptr<FrameSource> prefetch(std::unique_ptr<FrameSource> source) {
  return std::make_unique<PrefetchedSource>(std::move(source));
}

}  // namespace bitproof::metrics
