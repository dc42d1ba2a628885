// A GPU.
#include <cstddef>
#include <utility>

#include "conformance/device/device_memory.h"
#include "conformance/elementwise/arena_kernels.h"
#include "conformance/mlp/place.h"
#include "conformance/poison.h"
#include "kernels/cuda/device.h"
#include "kernels/linear_gelu/guard.h"
#include "kernels/mlp/cuda_executor.h"

namespace bitproof::conformance {
namespace {

using kernels::Matrix;
using kernels::cuda::check;

constexpr std::size_t kGuard = 4096;  // elements

class DevicePlace final : public MlpPlace {
 public:
  DevicePlace(int device_id, bool native_nvfp4) : device_id_(device_id), scope_(device_id) {
    options_.epilogue = kernels::cuda::EpilogueUse::always;
    options_.nvfp4 = native_nvfp4 ? kernels::cuda::Nvfp4Gemm::native : kernels::cuda::Nvfp4Gemm::dequantised;
    capability_ = new_executor({})->compute_capability();
    options_.table.set_measured(capability_, {.epilogue = kernels::EpilogueSpeed::unmeasured,
                                              .source = "a check of bits does not ask for speed",
                                              .times = {}});
  }

  std::unique_ptr<kernels::Executor> new_executor(kernels::Log log) override {
    return std::make_unique<kernels::cuda::CudaExecutor>(
        device_id_, stream_, std::make_shared<kernels::FirstSight>(std::move(log)), options_);
  }

  kernels::LinearGeluGuard guard() const override {
    return [this](const kernels::LinearLayer& layer) {
      return can_use_fused_linear_gelu_layer(layer, capability_, options_.table);
    };
  }

  Matrix upload(std::span<const std::uint16_t> bits, std::uint64_t rows, std::uint64_t width,
                reference::Dtype dtype) override {
    auto& memory = kept_.emplace_back(std::make_unique<DeviceBuffer<std::uint16_t>>(bits.size()));
    check(cudaMemcpyAsync(memory->get(), bits.data(), bits.size_bytes(), cudaMemcpyHostToDevice, stream_),
          "cudaMemcpyAsync");
    stream_.wait();
    return matrix(memory->get(), rows, width, dtype);
  }

  Matrix poisoned_output(std::uint64_t rows, std::uint64_t width, reference::Dtype dtype) override {
    count_ = rows * width;
    std::uint16_t* const arena = output_.reserve(count_ + 2 * kGuard);
    poison_arena(arena, count_ + 2 * kGuard, stream_);
    return matrix(arena + kGuard, rows, width, dtype);
  }

  MlpOutput fetch_output() override {
    std::vector<std::uint16_t> all(count_ + 2 * kGuard);
    check(cudaMemcpyAsync(all.data(), output_.get(), all.size() * sizeof(std::uint16_t), cudaMemcpyDeviceToHost,
                          stream_),
          "cudaMemcpyAsync");
    stream_.wait();
    MlpOutput output;
    for (std::size_t i = 0; i < kGuard; ++i)
      output.overwritten += (all[i] != kPoison ? 1u : 0u) + (all[kGuard + count_ + i] != kPoison ? 1u : 0u);
    output.bits.assign(all.begin() + kGuard, all.end() - kGuard);
    return output;
  }

  CUstream_st* stream() const override { return stream_; }

 private:
  Matrix matrix(std::uint16_t* data, std::uint64_t rows, std::uint64_t width, reference::Dtype dtype) const {
    return {data,
            half_type_of(dtype),
            {kDLCUDA, device_id_},
            static_cast<std::int64_t>(rows),
            static_cast<std::int64_t>(width)};
  }

  int device_id_;
  kernels::cuda::DeviceScope scope_;
  Stream stream_;
  kernels::cuda::CudaExecutorOptions options_;
  int capability_ = 0;
  std::vector<std::unique_ptr<DeviceBuffer<std::uint16_t>>> kept_;
  DeviceBuffer<std::uint16_t> output_;
  std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<MlpPlace> make_device_place(int device_id, bool native_nvfp4) {
  return std::make_unique<DevicePlace>(device_id, native_nvfp4);
}

}  // namespace bitproof::conformance
