// Tensors on the current device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>
#include <dlpack/dlpack.h>

#include "conformance/comparison.h"
#include "kernels/cuda/device.h"
#include "reference/half.h"

namespace bitproof::probe {

class DeviceBuffer {
 public:
  explicit DeviceBuffer(std::size_t bytes) { kernels::cuda::check(cudaMalloc(&data_, bytes), "cudaMalloc"); }
  ~DeviceBuffer() { (void)cudaFree(data_); }
  DeviceBuffer(DeviceBuffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)) {}
  DeviceBuffer& operator=(DeviceBuffer&&) = delete;

  char* data() const { return static_cast<char*>(data_); }

 private:
  void* data_ = nullptr;
};

// A contiguous tensor of 16-bit elements between two guard bands.
class DeviceTensor {
 public:
  static constexpr std::size_t kGuardElements = 4096;

  DeviceTensor(std::vector<std::int64_t> shape, reference::Dtype dtype)
      : shape_(std::move(shape)), count_(1), buffer_((elements_of(shape_) + 2 * kGuardElements) * 2) {
    for (const std::int64_t extent : shape_) count_ *= static_cast<std::size_t>(extent);
    tensor_.data = buffer_.data() + 2 * kGuardElements;
    tensor_.device = {kDLCUDA, 0};
    kernels::cuda::check(cudaGetDevice(&tensor_.device.device_id), "cudaGetDevice");
    tensor_.ndim = static_cast<int>(shape_.size());
    tensor_.shape = shape_.data();
    tensor_.dtype = {static_cast<std::uint8_t>(dtype == reference::Dtype::bf16 ? kDLBfloat : kDLFloat), 16, 1};
    poison();
  }

  template <reference::Half T>
  static DeviceTensor of(std::vector<std::int64_t> shape, std::span<const T> values) {
    DeviceTensor result(std::move(shape), T::kDtype);
    kernels::cuda::check(
        cudaMemcpy(result.tensor_.data, values.data(), values.size_bytes(), cudaMemcpyHostToDevice),
        "cudaMemcpy to the device");
    return result;
  }

  DeviceTensor(DeviceTensor&& other) noexcept
      : shape_(std::move(other.shape_)),
        count_(other.count_),
        buffer_(std::move(other.buffer_)),
        tensor_(other.tensor_) {
    tensor_.shape = shape_.data();
  }

  const DLTensor& operator*() const { return tensor_; }
  const DLTensor* operator->() const { return &tensor_; }

  // Fills the elements and the guard bands with a NaN that no result has.
  void poison() {
    const std::vector<std::uint16_t> pattern(count_ + 2 * kGuardElements, conformance::kPoison);
    kernels::cuda::check(cudaMemcpy(buffer_.data(), pattern.data(), pattern.size() * 2, cudaMemcpyHostToDevice),
                         "cudaMemcpy to the device");
  }

  template <reference::Half T>
  std::vector<T> download() const {
    std::vector<T> values(count_);
    kernels::cuda::check(cudaMemcpy(values.data(), tensor_.data, count_ * 2, cudaMemcpyDeviceToHost),
                         "cudaMemcpy from the device");
    return values;
  }

  // Elements of the guard bands that were overwritten.
  std::uint64_t guard_violations() const {
    std::uint64_t violations = 0;
    for (const std::size_t offset : {std::size_t{0}, kGuardElements + count_}) {
      std::vector<std::uint16_t> band(kGuardElements);
      kernels::cuda::check(
          cudaMemcpy(band.data(), buffer_.data() + 2 * offset, band.size() * 2, cudaMemcpyDeviceToHost),
          "cudaMemcpy from the device");
      for (const std::uint16_t bits : band) violations += bits != conformance::kPoison;
    }
    return violations;
  }

 private:
  static std::size_t elements_of(const std::vector<std::int64_t>& shape) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    return count;
  }

  std::vector<std::int64_t> shape_;
  std::size_t count_;
  DeviceBuffer buffer_;
  DLTensor tensor_{};
};

}  // namespace bitproof::probe
