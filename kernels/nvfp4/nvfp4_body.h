// NVFP4 block by block, for a GPU thread and for a CPU loop.
//
// Contract, the bits of reference/nvfp4: every operation FP32, correctly rounded and not contracted.
//   tensor scale    largest magnitude of the tensor / 2688 (6 * 448); 1 for a tensor of zeros
//   scale           largest magnitude of the block / (6 * tensor scale), to the nearest E4M3, ties to even, <=
//   448 value           element / (scale * tensor scale), to the nearest E2M1, ties to even, at most 6 in
//   magnitude;
//                   a zero with the element's sign where the scale is 0
// Infinities count as the largest finite number, and give +-6; NaNs do not count, and give +6.
#pragma once

#include <cstdint>
#include <cstring>

#include "kernels/half_pair.h"
#include "kernels/nvfp4/scale_layout.h"
#include "kernels/primitives.h"
#include "kernels/tensor.h"

namespace bitproof::kernels::nvfp4 {

inline constexpr float kLargestValue = 6, kLargestScale = 448;

BITPROOF_KERNEL float divide(float a, float b) {
#if defined(__CUDACC__)
  return __fdiv_rn(a, b);
#else
  return a / b;
#endif
}

BITPROOF_KERNEL std::uint32_t bits_of(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

BITPROOF_KERNEL float float_of(std::uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// The value of the E2M1 code in the lower four bits: 0 and 0.5, then significands of two bits.
BITPROOF_KERNEL float value_of_e2m1(std::uint32_t code) {
  const std::uint32_t magnitude = code & 7u;
  // From code 2 on, exponent and fraction are those of FP32 from 1.0 on, one fraction bit long.
  const float positive =
      magnitude < 2 ? 0.5f * static_cast<float>(magnitude) : float_of(0x3F000000u + (magnitude << 22));
  return (code & 8u) != 0 ? -positive : positive;
}

// The value of a non-negative E4M3 code: FP32 with the bias moved by 120, subnormals scaled.
BITPROOF_KERNEL float value_of_scale(std::uint32_t code) {
  return code < 8 ? static_cast<float>(code) * 0x1p-9f : float_of(0x3C000000u + (code << 20));
}

BITPROOF_KERNEL std::uint32_t round_to_e2m1(float x) {
  const std::uint32_t magnitude = bits_of(x) & 0x7FFFFFFFu, sign = bits_of(x) >> 28 & 8u;
  if (magnitude > 0x7F800000u) return 7;
  const float m = float_of(magnitude);
  // Halfway points between neighbours; on one, the even code.
  const std::uint32_t code = static_cast<std::uint32_t>(m > 0.25f) + (m >= 0.75f) + (m > 1.25f) + (m >= 1.75f) +
                             (m > 2.5f) + (m >= 3.5f) + (m > 5.0f);
  return sign | code;
}

// For x >= 0.
BITPROOF_KERNEL std::uint32_t round_to_scale(float x) {
  if (!(x < kLargestScale)) return 0x7E;
  // Below 2^-6 the unit is 2^-9, that of FP32 in [2^14, 2^15): an addition rounds there.
  if (x < 0x1p-6f) return bits_of(add(x, 0x1p14f)) - 0x46800000u;
  const std::uint32_t bits = bits_of(x);
  return (bits + 0x7FFFFu + (bits >> 20 & 1u) - 0x3C000000u) >> 20;
}

// The magnitude with which an element counts.
template <HalfType kType>
BITPROOF_KERNEL std::uint32_t counted_magnitude(std::uint32_t half) {
  constexpr std::uint32_t kInfinity = kType == HalfType::bf16 ? 0x7F80u : 0x7C00u;
  const std::uint32_t magnitude = half & 0x7FFFu;
  if (magnitude > kInfinity) return 0;
  return magnitude == kInfinity ? kInfinity - 1 : magnitude;
}

// From the largest counted magnitude, in the bits of the dtype.
template <HalfType kType>
BITPROOF_KERNEL float tensor_scale_of(std::uint32_t largest) {
  return largest == 0 ? 1.0f : divide(HalfPair<kType>::widen(largest).low, kLargestValue * kLargestScale);
}

// One block as packed words, and its code.
struct Block {
  std::uint32_t values[2];  // 16 codes of four bits, the first in the lowest
  std::uint32_t scale;
};

// `words` are the block's 16 elements.
template <HalfType kType>
BITPROOF_KERNEL Block quantise_block(const std::uint32_t (&words)[8], float tensor_scale) {
  using Pair = HalfPair<kType>;
  std::uint32_t largest = 0;
#if defined(__CUDACC__)
#pragma unroll
#endif
  for (int i = 0; i < 16; ++i) {
    const std::uint32_t magnitude = counted_magnitude<kType>(words[i / 2] >> (i % 2 * 16) & 0xFFFFu);
    largest = magnitude > largest ? magnitude : largest;
  }
  Block block{};
  block.scale = round_to_scale(divide(Pair::widen(largest).low, multiply(kLargestValue, tensor_scale)));
  const float unit = multiply(value_of_scale(block.scale), tensor_scale);
#if defined(__CUDACC__)
#pragma unroll
#endif
  for (int i = 0; i < 8; ++i) {
    const FloatPair x = Pair::widen(words[i]);
    // A scale of 0 leaves the signs alone.
    const std::uint32_t low = block.scale == 0 ? words[i] >> 12 & 8u : round_to_e2m1(divide(x.low, unit));
    const std::uint32_t high = block.scale == 0 ? words[i] >> 28 & 8u : round_to_e2m1(divide(x.high, unit));
    block.values[i / 4] |= (low | high << 4) << (i % 4 * 8);
  }
  return block;
}

// Elements 2i and 2i + 1 of a block as a word of the dtype: exact.
template <HalfType kType>
BITPROOF_KERNEL std::uint32_t dequantise_pair(const Block& block, int i) {
  const std::uint32_t codes = block.values[i / 4] >> (i % 4 * 8);
  const float scale = value_of_scale(block.scale);
  return HalfPair<kType>::round(
      {multiply(value_of_e2m1(codes), scale), multiply(value_of_e2m1(codes >> 4), scale)});
}

}  // namespace bitproof::kernels::nvfp4
