// Eager semantics in two kernels: implementation `cuda.eager`.
#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/cuda/device.h"
#include "kernels/cuda/eager_gelu.h"
#include "kernels/gelu_tanh.h"
#include "kernels/launch_rule.h"
#include "kernels/tensor.h"

namespace bitproof::kernels::cuda::eager {

inline constexpr int kThreads = kLinearThreads;

// output = round(widen(input) + widen(bias)); one row of blocks per row of the tensor.
template <HalfType kType>
__global__ void __launch_bounds__(kThreads) add_bias_eager(const __grid_constant__ RowwiseArguments arguments) {
  using S = Scalar<kType>;
  for (std::int64_t row = blockIdx.y; row < arguments.rows; row += gridDim.y)
    for (std::int64_t column = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; column < arguments.width;
         column += std::int64_t{gridDim.x} * kThreads) {
      const std::int64_t i = row * arguments.width + column;
      arguments.output[i] = S::round(S::widen(arguments.input[i]) + S::widen(arguments.bias[column]));
    }
}

// output = round(gelu(widen(input))), the tensor as one line.
template <HalfType kType>
__global__ void __launch_bounds__(kThreads)
    gelu_tanh_eager_kernel(const std::uint16_t* input, std::uint16_t* output, std::int64_t count) {
  using S = Scalar<kType>;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * kThreads)
    output[i] = S::round(gelu_tanh_eager(S::widen(input[i])));
}

namespace {

constexpr std::int64_t kMaxBlocks = std::int64_t{1} << 30;
constexpr std::int64_t kMaxGridY = 65535;

unsigned blocks_for(std::int64_t elements) {
  constexpr std::int64_t kPerBlock = std::int64_t{kThreads} * kEagerElementsPerThread;
  return static_cast<unsigned>(std::min((elements + kPerBlock - 1) / kPerBlock, kMaxBlocks));
}

template <HalfType kType>
void launch(const RowwiseArguments& arguments, cudaStream_t stream) {
  const std::uint16_t* gelu_input = arguments.input;
  if (arguments.bias != nullptr) {
    const dim3 grid(blocks_for(arguments.width), static_cast<unsigned>(std::min(arguments.rows, kMaxGridY)));
    add_bias_eager<kType><<<grid, kThreads, 0, stream>>>(arguments);
    check(cudaGetLastError(), "launch of add_bias_eager");
    gelu_input = arguments.output;
  }
  const std::int64_t count = arguments.rows * arguments.width;
  gelu_tanh_eager_kernel<kType>
      <<<blocks_for(count), kThreads, 0, stream>>>(gelu_input, arguments.output, count);
  check(cudaGetLastError(), "launch of gelu_tanh_eager_kernel");
}

void run(const DLTensor& input, const DLTensor* bias, const DLTensor& output, cudaStream_t stream) {
  const DeviceScope device(input.device.device_id);
  const RowwiseArguments arguments = rowwise_arguments(input, bias, output);
  if (*half_type(input) == HalfType::bf16) {
    launch<HalfType::bf16>(arguments, stream);
  } else {
    launch<HalfType::fp16>(arguments, stream);
  }
}

constexpr int kAccessBytes = 2;

}  // namespace

Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output) {
  return can_use_on_device(input, nullptr, output, kAccessBytes);
}

Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output) {
  return can_use_on_device(input, &bias, output, kAccessBytes);
}

void gelu_tanh(const DLTensor& input, const DLTensor& output, cudaStream_t stream) {
  require(can_use_gelu_tanh(input, output));
  run(input, nullptr, output, stream);
}

void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, cudaStream_t stream) {
  require(can_use_bias_gelu_tanh(input, bias, output));
  run(input, &bias, output, stream);
}

}  // namespace bitproof::kernels::cuda::eager
