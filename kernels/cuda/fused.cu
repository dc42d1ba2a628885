// The production kernel on the GPU: implementation `cuda.fused`.
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/cuda/device.h"
#include "kernels/gelu_tanh.h"
#include "kernels/gelu_tanh_body.h"
#include "kernels/launch_rule.h"
#include "kernels/tensor.h"

namespace bitproof::kernels::cuda {

#if defined(__CUDA_ARCH__)
inline constexpr int kVectorBytes = traits_for(__CUDA_ARCH__ / 10).vector_bytes;
#else
inline constexpr int kVectorBytes = 16;  // the host pass compiles no device code
#endif

// Where one thread of the grid stands; kernels/host/gelu_tanh_host.cpp has the CPU's counterpart.
struct GridThread {
  BITPROOF_KERNEL std::int64_t vector() const {
    return std::int64_t{blockIdx.x} * kFusedRule.threads_x + threadIdx.x;
  }
  BITPROOF_KERNEL std::int64_t row_stride() const { return kFusedRule.threads_y; }
  BITPROOF_KERNEL std::int64_t first_row() const {
    return std::int64_t{blockIdx.y} * kRowsPerBlock + threadIdx.y;
  }
  BITPROOF_KERNEL std::int64_t tile_stride() const { return std::int64_t{gridDim.y} * kRowsPerBlock; }

  // Programmatic dependent launch (CUDA C++ Programming Guide): nothing, bias included, is read before the
  // kernels ahead in the stream have finished and flushed; the next kernel may start once everything here is
  // written.
  BITPROOF_KERNEL void wait_for_producer() const {
#if __CUDA_ARCH__ >= 900
    cudaGridDependencySynchronize();
#endif
  }
  BITPROOF_KERNEL void release_consumer() const {
#if __CUDA_ARCH__ >= 900
    cudaTriggerProgrammaticLaunchCompletion();
#endif
  }

 private:
  static constexpr std::int64_t kRowsPerBlock = kFusedRule.threads_y * kFusedRule.rows_per_thread(kVectorBytes);
};

template <HalfType kType, bool kBias>
__global__ void __launch_bounds__(kFusedRule.block_threads())
    gelu_tanh_fused(const __grid_constant__ RowwiseArguments arguments) {
  gelu_tanh_body<kType, kBias, kVectorBytes, kFusedRule.rows_per_thread(kVectorBytes)>(GridThread{}, arguments);
}

namespace {

template <HalfType kType, bool kBias>
void launch(const RowwiseArguments& arguments, const ArchitectureTraits& traits, cudaStream_t stream) {
  const LaunchGeometry geometry = launch_geometry(kFusedRule, traits.vector_bytes, arguments.rows,
                                                  arguments.width * 2 / traits.vector_bytes);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(geometry.grid_x, geometry.grid_y);
  config.blockDim = dim3(geometry.block_x, geometry.block_y);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = traits.programmatic_dependent_launch ? 1 : 0;
  check(cudaLaunchKernelEx(&config, gelu_tanh_fused<kType, kBias>, arguments), "launch of gelu_tanh_fused");
}

template <bool kBias>
void run(const DLTensor& input, const DLTensor* bias, const DLTensor& output, cudaStream_t stream) {
  const ArchitectureTraits traits = traits_of_device(input.device.device_id);
  const RowwiseArguments arguments = rowwise_arguments(input, bias, output);
  const DeviceScope device(input.device.device_id);
  if (*half_type(input) == HalfType::bf16) {
    launch<HalfType::bf16, kBias>(arguments, traits, stream);
  } else {
    launch<HalfType::fp16, kBias>(arguments, traits, stream);
  }
}

Applicability can_use(const DLTensor& input, const DLTensor* bias, const DLTensor& output) {
  if (input.device.device_type != kDLCUDA) return {"input is not on a CUDA device"};
  return can_use_on_device(input, bias, output, traits_of_device(input.device.device_id).vector_bytes);
}

}  // namespace

Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output) {
  return can_use(input, nullptr, output);
}

Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output) {
  return can_use(input, &bias, output);
}

void gelu_tanh(const DLTensor& input, const DLTensor& output, cudaStream_t stream) {
  require(can_use_gelu_tanh(input, output));
  run<false>(input, nullptr, output, stream);
}

void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, cudaStream_t stream) {
  require(can_use_bias_gelu_tanh(input, bias, output));
  run<true>(input, &bias, output, stream);
}

}  // namespace bitproof::kernels::cuda
