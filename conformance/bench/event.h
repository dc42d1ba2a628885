// CUDA events: the clock of the benchmarks.
#pragma once

#include <cstddef>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/cuda/device.h"

namespace bitproof::conformance {

class Event {
 public:
  Event() { kernels::cuda::check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~Event() { (void)cudaEventDestroy(event_); }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;

  void record(cudaStream_t stream) { kernels::cuda::check(cudaEventRecord(event_, stream), "cudaEventRecord"); }
  // Both events must have passed.
  double microseconds_since(const Event& start) const {
    float milliseconds = 0;
    kernels::cuda::check(cudaEventElapsedTime(&milliseconds, start.event_, event_), "cudaEventElapsedTime");
    return 1e3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// Times of launches, each between two events: nothing is waited for in between, so that the host's part hides
// behind the device's.
class LaunchTimes {
 public:
  explicit LaunchTimes(std::size_t most) : starts_(most), ends_(most) {}

  // More than `most` throw std::out_of_range.
  template <class Launch>
  void take(cudaStream_t stream, Launch&& launch) {
    starts_.at(count_).record(stream);
    launch();
    ends_[count_++].record(stream);
  }

  // Of all but the first `warming_up`, once the stream is done.
  std::vector<double> microseconds(std::size_t warming_up = 0) const {
    std::vector<double> times;
    for (std::size_t i = warming_up; i < count_; ++i) times.push_back(ends_[i].microseconds_since(starts_[i]));
    return times;
  }

 private:
  std::vector<Event> starts_, ends_;
  std::size_t count_ = 0;
};

}  // namespace bitproof::conformance
