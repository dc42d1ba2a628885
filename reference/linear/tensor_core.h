// One matrix-multiply-accumulate step of the tensor core: d = a[0]*b[0] + ... + a[15]*b[15] + c, to the last
// bit.
//
// The rule is neither a chain of FMAs nor a correctly rounded sum. All terms are aligned to the largest
// exponent among them, the bits below a fixed position are cut off each term, the rest is added exactly, and
// the sum is cut to FP32:
//
//   e(v)    exponent of a factor; a subnormal has the least normal exponent. Factors are not renormalised, so a
//           product's exponent is e(a) + e(b) even when the product of the significands is 2 or more.
//   E       the largest exponent among the nonzero products and c, and at least -133
//   S       sum of the terms, each rounded toward zero to a multiple of 2^(E - 25)
//   d       S rounded toward zero to FP32, subnormals kept; |d| >= 2^128 is an infinity; every zero is +0
//   NaN     any NaN, inf * 0, or infinities of both signs give 0x7FFFFFFF; otherwise any infinity wins
//
// Source: measured on an H200 (sm_90) for mma.m16n8k8, mma.m16n8k16 and wgmma.m64n8k16 on bf16 and fp16, 0
// mismatches in 10,380,902,400 blocks; 2,112 of them are in fixtures/oracles/tensor_core_blocks.txt. Other
// architectures: unmeasured.
#pragma once

#include <cstdint>
#include <span>

#include "reference/half.h"

namespace bitproof::reference {

// What the step needs to know of a 16-bit format.
struct TensorCoreFormat {
  int fraction_bits;
  int least_exponent;  // of a normal number
};

template <Half T>
inline constexpr TensorCoreFormat kTensorCoreFormat{T::kFractionBits, 2 - (1 << (T::kExponentBits - 1))};

// Products of one step of a 16-bit GEMM.
inline constexpr int kTensorCoreStep = 16;

// Terms are kept down to 2^(E - kTensorCoreAlignedBits), E being the largest exponent of the step.
inline constexpr int kTensorCoreAlignedBits = 25;

// E does not fall below this.
inline constexpr int kTensorCoreLeastAlignment = -133;

// The NaN of every FP32 result that is one.
inline constexpr std::uint32_t kTensorCoreNan = 0x7FFFFFFFu;

// An FP32 result with that NaN in place of any other: hosts differ in the NaN that an addition makes.
constexpr float canonical_fp32(float value) {
  return is_nan_bits(float_bits(value)) ? float_from_bits(kTensorCoreNan) : value;
}

// `a` and `b` hold 16-bit values of `format`, widened. a.size() == b.size(), any number of products up to 16:
// 16 for m16n8k16 and wgmma, 8 for m16n8k8.
float tensor_core_step(const TensorCoreFormat& format, std::span<const float> a, std::span<const float> b,
                       float c);

template <Half T>
float tensor_core_step(std::span<const T> a, std::span<const T> b, float c);

}  // namespace bitproof::reference
