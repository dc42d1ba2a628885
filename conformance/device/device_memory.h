// Streams and memory of a device, owned. Failures throw kernels::cuda::CudaError.
#pragma once

#include <cstddef>
#include <cstdint>

#include <cuda_runtime_api.h>

#include "kernels/cuda/device.h"

namespace bitproof::conformance {

class Stream {
 public:
  // Not synchronised with the default stream: a kernel that ignores its stream is not put in order by accident.
  Stream() {
    kernels::cuda::check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
                         "cudaStreamCreateWithFlags");
  }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)
  void wait() const { kernels::cuda::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_ = nullptr;
};

// Memory for `T`s that grows and is kept for the next use.
template <class T>
class DeviceBuffer {
 public:
  DeviceBuffer() = default;
  explicit DeviceBuffer(std::size_t count) { reserve(count); }
  ~DeviceBuffer() { (void)cudaFree(memory_); }
  DeviceBuffer(const DeviceBuffer&) = delete;
  DeviceBuffer& operator=(const DeviceBuffer&) = delete;

  // At least `count` elements; what was there is lost when it grows.
  T* reserve(std::size_t count) {
    if (count <= count_) return memory_;
    kernels::cuda::check(cudaFree(memory_), "cudaFree");
    memory_ = nullptr;
    count_ = 0;
    kernels::cuda::check(cudaMalloc(reinterpret_cast<void**>(&memory_), count * sizeof(T)), "cudaMalloc");
    count_ = count;
    return memory_;
  }
  T* get() const { return memory_; }

 private:
  T* memory_ = nullptr;
  std::size_t count_ = 0;
};

// A few 64-bit counters that kernels add to, and their values on the host after fetch() and a wait.
template <std::size_t kCount>
class DeviceCounters {
 public:
  DeviceCounters() : device_(kCount) {
    kernels::cuda::check(cudaMallocHost(reinterpret_cast<void**>(&host_), kBytes), "cudaMallocHost");
  }
  ~DeviceCounters() { (void)cudaFreeHost(host_); }
  DeviceCounters(const DeviceCounters&) = delete;
  DeviceCounters& operator=(const DeviceCounters&) = delete;

  void clear(cudaStream_t stream) {
    kernels::cuda::check(cudaMemsetAsync(device_.get(), 0, kBytes, stream), "cudaMemsetAsync");
  }
  void fetch(cudaStream_t stream) {
    kernels::cuda::check(cudaMemcpyAsync(host_, device_.get(), kBytes, cudaMemcpyDeviceToHost, stream),
                         "cudaMemcpyAsync");
  }
  std::uint64_t* on_device(std::size_t which) { return device_.get() + which; }
  std::uint64_t fetched(std::size_t which) const { return host_[which]; }

 private:
  static constexpr std::size_t kBytes = kCount * sizeof(std::uint64_t);
  DeviceBuffer<std::uint64_t> device_;
  std::uint64_t* host_ = nullptr;
};

}  // namespace bitproof::conformance
