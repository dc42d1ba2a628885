// Arithmetic on two packed 16-bit numbers, as the kernel bodies need it: the rounded sum, widening to FP32, and
// rounding back. One 32-bit word holds the element of the lower address in its lower half.
//
// On the device each is one or two instructions. On the host each is written from the definition, independently
// of reference/, which checks it.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>

#include "kernels/primitives.h"
#include "kernels/tensor.h"

#if defined(__CUDACC__)
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif

namespace bitproof::kernels {

struct FloatPair {
  float low, high;
};

#if defined(__CUDACC__)

template <HalfType kType>
struct HalfPair;

// The sum of two bf16 (8-bit significands) or fp16 (11-bit) rounded to FP32 and then to the format has the bits
// of the sum rounded once: 24 >= 2p + 2 makes the double rounding innocuous (Figueroa, "When is double rounding
// innocuous?", 1995). So one packed add is the eager boundary. The `_rn` forms are never contracted into an
// FMA.
template <>
struct HalfPair<HalfType::bf16> {
  static BITPROOF_KERNEL std::uint32_t add(std::uint32_t a, std::uint32_t b) {
    return bits(__hadd2_rn(pair(a), pair(b)));
  }
  static BITPROOF_KERNEL FloatPair widen(std::uint32_t a) {
    return {__uint_as_float(a << 16), __uint_as_float(a & 0xFFFF0000u)};
  }
  static BITPROOF_KERNEL std::uint32_t round(FloatPair a) { return bits(__floats2bfloat162_rn(a.low, a.high)); }

 private:
  static BITPROOF_KERNEL __nv_bfloat162 pair(std::uint32_t a) {
    __nv_bfloat162 result;
    memcpy(&result, &a, sizeof result);
    return result;
  }
  static BITPROOF_KERNEL std::uint32_t bits(__nv_bfloat162 a) {
    std::uint32_t result;
    memcpy(&result, &a, sizeof result);
    return result;
  }
};

template <>
struct HalfPair<HalfType::fp16> {
  static BITPROOF_KERNEL std::uint32_t add(std::uint32_t a, std::uint32_t b) {
    return bits(__hadd2_rn(pair(a), pair(b)));
  }
  static BITPROOF_KERNEL FloatPair widen(std::uint32_t a) {
    return {__low2float(pair(a)), __high2float(pair(a))};
  }
  static BITPROOF_KERNEL std::uint32_t round(FloatPair a) { return bits(__floats2half2_rn(a.low, a.high)); }

 private:
  static BITPROOF_KERNEL __half2 pair(std::uint32_t a) {
    __half2 result;
    memcpy(&result, &a, sizeof result);
    return result;
  }
  static BITPROOF_KERNEL std::uint32_t bits(__half2 a) {
    std::uint32_t result;
    memcpy(&result, &a, sizeof result);
    return result;
  }
};

#else

// One number of the format on the host.
template <HalfType kType>
struct HostHalf {
  static constexpr int kFractionBits = kType == HalfType::bf16 ? 7 : 10;
  static constexpr int kBias = kType == HalfType::bf16 ? 127 : 15;
  static constexpr std::uint32_t kInfinity = 0x7FFFu >> kFractionBits << kFractionBits;
  static constexpr std::uint32_t kNan = 0x7FFF;

  static float widen(std::uint32_t half) {
    if constexpr (kType == HalfType::bf16) return std::bit_cast<float>(half << 16);
    const std::uint32_t sign = (half & 0x8000u) << 16;
    const std::uint32_t exponent = (half & 0x7FFFu) >> kFractionBits;
    const std::uint32_t fraction = half & ((1u << kFractionBits) - 1);
    if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000u | fraction << 13);
    if (exponent != 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;  // exact: at most 10 bits
    return sign != 0 ? -magnitude : magnitude;
  }

  // To nearest, ties to even. Adding the bias makes the wanted position the last of an FP32 significand, so
  // that the FP32 addition rounds there; what it added is taken off again.
  static std::uint32_t round(float value) {
    const std::uint32_t bits = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t sign = bits >> 16 & 0x8000u;
    const std::uint32_t magnitude = bits & 0x7FFFFFFFu;
    if (magnitude > 0x7F800000u) return kNan;
    if constexpr (kType == HalfType::bf16) {
      return sign | (magnitude + 0x7FFFu + (magnitude >> 16 & 1u)) >> 16;
    } else {
      if (magnitude >= 0x47800000u) return sign | kInfinity;  // 2^16 and above, infinity included
      if (magnitude < 0x38800000u) {  // below 2^-14: the unit is 2^-24, that of FP32 in [0.5, 1)
        const float shifted = std::bit_cast<float>(magnitude) + 0.5f;
        return sign | (std::bit_cast<std::uint32_t>(shifted) - 0x3F000000u);
      }
      const std::uint32_t rounded = magnitude + 0xFFFu + (magnitude >> 13 & 1u);
      return sign | ((rounded >> 13) - (112u << kFractionBits));  // 65520 and above carries into infinity
    }
  }
};

template <HalfType kType>
struct HalfPair {
  using Half = HostHalf<kType>;

  static std::uint32_t add(std::uint32_t a, std::uint32_t b) {
    const FloatPair x = widen(a), y = widen(b);
    return round({x.low + y.low, x.high + y.high});
  }
  static FloatPair widen(std::uint32_t a) { return {Half::widen(a & 0xFFFFu), Half::widen(a >> 16)}; }
  static std::uint32_t round(FloatPair a) { return Half::round(a.low) | Half::round(a.high) << 16; }
};

#endif

}  // namespace bitproof::kernels
