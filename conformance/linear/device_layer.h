// The tensors of a layer on a GPU, the output between guard bands.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

#include <cuda_runtime_api.h>
#include <dlpack/dlpack.h>

#include "conformance/device/device_memory.h"
#include "conformance/elementwise/arena_kernels.h"
#include "conformance/elementwise/placement.h"
#include "conformance/linear/operands.h"
#include "kernels/linear_gelu/linear_gelu.h"

namespace bitproof::conformance {

// A contiguous tensor over device memory that someone else owns.
template <std::size_t kRank>
class DeviceTensor {
 public:
  DeviceTensor(std::uint16_t* data, const std::array<std::int64_t, kRank>& shape, reference::Dtype dtype,
               int device_id)
      : shape_(shape) {
    std::int64_t step = 1;
    for (std::size_t axis = kRank; axis-- > 0;) strides_[axis] = std::exchange(step, step * shape[axis]);
    tensor_.data = data;
    tensor_.device = {kDLCUDA, device_id};
    tensor_.ndim = static_cast<int>(kRank);
    tensor_.shape = shape_.data();
    tensor_.strides = strides_.data();
    tensor_.dtype = {static_cast<std::uint8_t>(dtype == reference::Dtype::bf16 ? kDLBfloat : kDLFloat), 16, 1};
  }
  DeviceTensor(const DeviceTensor&) = delete;
  DeviceTensor& operator=(const DeviceTensor&) = delete;

  const DLTensor& operator*() const { return tensor_; }

 private:
  std::array<std::int64_t, kRank> shape_, strides_{};
  DLTensor tensor_{};
};

// Memory for layers, kept from one to the next.
class DeviceLayerMemory {
 public:
  DeviceBuffer<std::uint16_t> x, weight, bias, output;
};

// A layer of the host copied to the current device.
template <reference::Half T>
class DeviceLayer {
 public:
  DeviceLayer(const HostLayer<T>& host, DeviceLayerMemory& memory, int device_id, cudaStream_t stream)
      : elements_(host.shape.rows * host.shape.columns),
        arena_(memory.output.reserve(elements_ + 2 * kGuardElements)),
        x_(uploaded(host.x, memory.x, stream), {extent(host.shape.rows), extent(host.shape.depth)}, T::kDtype,
           device_id),
        weight_(uploaded(host.weight, memory.weight, stream),
                {extent(host.shape.columns), extent(host.shape.depth)}, T::kDtype, device_id),
        bias_(uploaded(host.bias, memory.bias, stream), {extent(host.shape.columns)}, T::kDtype, device_id),
        output_(arena_ + kGuardElements, {extent(host.shape.rows), extent(host.shape.columns)}, T::kDtype,
                device_id) {}

  kernels::LinearLayer layer() const { return {.weight = &*weight_, .bias = &*bias_}; }
  const DLTensor& x() const { return *x_; }
  const DLTensor& output() const { return *output_; }

  // The output and its guard bands: NaNs that no result has, so that a call which reads the output (a beta of
  // zero multiplied and not ignored) is wrong everywhere.
  void poison(cudaStream_t stream) const { poison_arena(arena_, elements_ + 2 * kGuardElements, stream); }

  // The guard bands before and after the output.
  std::array<const std::uint16_t*, 2> guards() const { return {arena_, arena_ + kGuardElements + elements_}; }
  const std::uint16_t* output_data() const { return arena_ + kGuardElements; }

 private:
  static std::int64_t extent(std::size_t value) { return static_cast<std::int64_t>(value); }

  static std::uint16_t* uploaded(const std::vector<T>& values, DeviceBuffer<std::uint16_t>& buffer,
                                 cudaStream_t stream) {
    std::uint16_t* const data = buffer.reserve(values.size());
    kernels::cuda::check(
        cudaMemcpyAsync(data, values.data(), values.size() * sizeof(T), cudaMemcpyHostToDevice, stream),
        "cudaMemcpyAsync");
    return data;
  }

  std::uint64_t elements_;
  std::uint16_t* arena_;
  DeviceTensor<2> x_, weight_;
  DeviceTensor<1> bias_;
  DeviceTensor<2> output_;
};

}  // namespace bitproof::conformance
