// The published one-pass form: implementation `cuda.baseline`. A one-dimensional grid as large as the card
// holds at once strides over the vectors of the tensor; a vector's bias is found by remainder; GELU is eager's,
// with tanhf.
#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/cuda/device.h"
#include "kernels/cuda/eager_gelu.h"
#include "kernels/gelu_tanh.h"
#include "kernels/launch_rule.h"
#include "kernels/tensor.h"
#include "kernels/vector.h"

namespace bitproof::kernels::cuda::baseline {

inline constexpr int kThreads = kLinearThreads;
inline constexpr int kVectorBytes = 16;

template <HalfType kType, bool kBias>
__global__ void __launch_bounds__(kThreads)
    gelu_tanh_baseline(const __grid_constant__ RowwiseArguments arguments) {
  using V = Vector<kVectorBytes>;
  using Pair = HalfPair<kType>;
  const std::int64_t vectors_per_row = arguments.width / V::kElements;
  const std::int64_t vectors = arguments.rows * vectors_per_row;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < vectors;
       i += std::int64_t{gridDim.x} * kThreads) {
    V x = load_cached<kVectorBytes>(arguments.input + i * V::kElements);
    V bias{};
    if constexpr (kBias) bias = load_cached<kVectorBytes>(arguments.bias + i % vectors_per_row * V::kElements);
#pragma unroll
    for (int word = 0; word < V::kWords; ++word) {
      FloatPair wide = Pair::widen(x.words[word]);
      if constexpr (kBias) {
        const FloatPair b = Pair::widen(bias.words[word]);
        wide = Pair::widen(Pair::round({wide.low + b.low, wide.high + b.high}));
      }
      x.words[word] = Pair::round({gelu_tanh_eager(wide.low), gelu_tanh_eager(wide.high)});
    }
    *reinterpret_cast<V*>(arguments.output + i * V::kElements) = x;
  }
}

namespace {

template <HalfType kType, bool kBias>
void launch(const RowwiseArguments& arguments, int device_id, cudaStream_t stream) {
  int resident = 0;
  check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&resident, gelu_tanh_baseline<kType, kBias>, kThreads, 0),
        "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  const std::int64_t vectors = arguments.rows * (arguments.width * 2 / kVectorBytes);
  const std::int64_t blocks = std::min<std::int64_t>(
      (vectors + kThreads - 1) / kThreads, std::int64_t{resident} * multiprocessors_of_device(device_id));
  gelu_tanh_baseline<kType, kBias><<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(arguments);
  check(cudaGetLastError(), "launch of gelu_tanh_baseline");
}

template <bool kBias>
void run(const DLTensor& input, const DLTensor* bias, const DLTensor& output, cudaStream_t stream) {
  const int device_id = input.device.device_id;
  const DeviceScope device(device_id);
  const RowwiseArguments arguments = rowwise_arguments(input, bias, output);
  if (*half_type(input) == HalfType::bf16) {
    launch<HalfType::bf16, kBias>(arguments, device_id, stream);
  } else {
    launch<HalfType::fp16, kBias>(arguments, device_id, stream);
  }
}

}  // namespace

Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output) {
  return can_use_on_device(input, nullptr, output, kVectorBytes);
}

Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output) {
  return can_use_on_device(input, &bias, output, kVectorBytes);
}

void gelu_tanh(const DLTensor& input, const DLTensor& output, cudaStream_t stream) {
  require(can_use_gelu_tanh(input, output));
  run<false>(input, nullptr, output, stream);
}

void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, cudaStream_t stream) {
  require(can_use_bias_gelu_tanh(input, bias, output));
  run<true>(input, &bias, output, stream);
}

}  // namespace bitproof::kernels::cuda::baseline
