// GELU as PyTorch's CUDA kernel writes it: FP32, this association, CUDA's tanhf. nvcc contracts the inner sum
// into an FMA, which changes no 16-bit result.
#pragma once

#include "kernels/half_pair.h"
#include "kernels/primitives.h"

namespace bitproof::kernels::cuda {

BITPROOF_KERNEL float gelu_tanh_eager(float x) {
  constexpr float kBeta = 0x1.988454p-1f;  // sqrt(2/pi), bits 0x3F4C422A
  constexpr float kKappa = 0.044715f;
  const float inner = kBeta * (x + kKappa * (x * x * x));
  return (0.5f * x) * (1.0f + tanhf(inner));
}

// One element, in scalar types: the conversions PyTorch uses.
template <HalfType kType>
struct Scalar;

template <>
struct Scalar<HalfType::bf16> {
  static BITPROOF_KERNEL float widen(std::uint16_t bits) {
    return __bfloat162float(__ushort_as_bfloat16(bits));
  }
  static BITPROOF_KERNEL std::uint16_t round(float x) { return __bfloat16_as_ushort(__float2bfloat16_rn(x)); }
};

template <>
struct Scalar<HalfType::fp16> {
  static BITPROOF_KERNEL float widen(std::uint16_t bits) { return __half2float(__ushort_as_half(bits)); }
  static BITPROOF_KERNEL std::uint16_t round(float x) { return __half_as_ushort(__float2half_rn(x)); }
};

}  // namespace bitproof::kernels::cuda
