// A row-major 16-bit tensor on the device for tests, poisoned, with its guard bands.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <cuda_runtime_api.h>
#include <dlpack/dlpack.h>

#include "conformance/device/device_memory.h"
#include "conformance/elementwise/arena_kernels.h"
#include "conformance/poison.h"
#include "reference/half.h"

namespace bitproof::gpu_tests {

class DeviceTensor {
 public:
  // rows 0: a vector of `width` elements.
  DeviceTensor(std::int64_t rows, std::int64_t width, reference::Dtype dtype)
      : count_(static_cast<std::size_t>((rows == 0 ? 1 : rows) * width)),
        memory_(count_),
        shape_{rows == 0 ? width : rows, width} {
    tensor = {
        .data = memory_.get(),
        .device = {kDLCUDA, 0},
        .ndim = rows == 0 ? 1 : 2,
        .dtype = {static_cast<std::uint8_t>(dtype == reference::Dtype::bf16 ? kDLBfloat : kDLFloat), 16, 1},
        .shape = shape_.data(),
        .strides = nullptr,
        .byte_offset = 0};
    conformance::poison_arena(memory_.get(), count_, nullptr);
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  void write(const std::vector<std::uint16_t>& bits) {
    kernels::cuda::check(
        cudaMemcpy(memory_.get(), bits.data(), bits.size() * sizeof(std::uint16_t), cudaMemcpyHostToDevice),
        "cudaMemcpy");
  }
  std::vector<std::uint16_t> read() const {
    std::vector<std::uint16_t> bits(count_);
    kernels::cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    kernels::cuda::check(
        cudaMemcpy(bits.data(), memory_.get(), count_ * sizeof(std::uint16_t), cudaMemcpyDeviceToHost),
        "cudaMemcpy");
    return bits;
  }

  DLTensor tensor{};

 private:
  std::size_t count_;
  conformance::DeviceBuffer<std::uint16_t> memory_;
  std::array<std::int64_t, 2> shape_;
};

}  // namespace bitproof::gpu_tests
