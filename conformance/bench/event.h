// CUDA events: the clock of the benchmarks.
#pragma once

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

}  // namespace bitproof::conformance
