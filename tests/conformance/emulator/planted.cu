// Two kernels that are wrong on some architectures only, shaped like the published one-pass kernel:
//   BITPROOF_PLANTED=1   from sm_100 on tanh is tanh.approx
//   BITPROOF_PLANTED=2   on sm_120 the sum reaches GELU unrounded
#include <cstdint>

#include "kernels/cuda/eager_gelu.h"
#include "kernels/gelu_tanh_body.h"
#include "kernels/launch_rule.h"

namespace bitproof::kernels::planted {

__device__ __forceinline__ float gelu(float x) {
#if BITPROOF_PLANTED == 1 && __CUDA_ARCH__ >= 1000
  const float inner = 0x1.988454p-1f * (x + 0.044715f * (x * x * x));
  float tanh;
  asm("tanh.approx.f32 %0, %1;" : "=f"(tanh) : "f"(inner));
  return (0.5f * x) * (1.0f + tanh);
#else
  return cuda::gelu_tanh_eager(x);
#endif
}

template <HalfType kType>
__device__ __forceinline__ FloatPair sum(FloatPair x, FloatPair bias) {
  const FloatPair unrounded{x.low + bias.low, x.high + bias.high};
#if BITPROOF_PLANTED == 2 && __CUDA_ARCH__ == 1200
  return unrounded;
#else
  return HalfPair<kType>::widen(HalfPair<kType>::round(unrounded));
#endif
}

template <HalfType kType, bool kBias>
__global__ void gelu_tanh_baseline(const __grid_constant__ RowwiseArguments arguments) {
  using V = Vector<16>;
  using Pair = HalfPair<kType>;
  const std::int64_t vectors_per_row = arguments.width / V::kElements;
  const std::int64_t vectors = arguments.rows * vectors_per_row;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kLinearThreads + threadIdx.x; i < vectors;
       i += std::int64_t{gridDim.x} * kLinearThreads) {
    V x = load_cached<16>(arguments.input + i * V::kElements);
    V bias{};
    if constexpr (kBias) bias = load_cached<16>(arguments.bias + i % vectors_per_row * V::kElements);
    for (int word = 0; word < V::kWords; ++word) {
      FloatPair wide = Pair::widen(x.words[word]);
      if constexpr (kBias) wide = sum<kType>(wide, Pair::widen(bias.words[word]));
      x.words[word] = Pair::round({gelu(wide.low), gelu(wide.high)});
    }
    *reinterpret_cast<V*>(arguments.output + i * V::kElements) = x;
  }
}

template __global__ void gelu_tanh_baseline<HalfType::bf16, true>(const __grid_constant__ RowwiseArguments);
template __global__ void gelu_tanh_baseline<HalfType::fp16, true>(const __grid_constant__ RowwiseArguments);
template __global__ void gelu_tanh_baseline<HalfType::bf16, false>(const __grid_constant__ RowwiseArguments);
template __global__ void gelu_tanh_baseline<HalfType::fp16, false>(const __grid_constant__ RowwiseArguments);

}  // namespace bitproof::kernels::planted
