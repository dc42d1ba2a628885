// linear and linear + tanh GELU as cuBLASLt computes them, to the last bit: a GEMM (reference/linear/gemm.h)
// and what follows it. x is [rows, depth], weight [columns, depth], bias [columns], the result [rows, columns].
//
// Every function throws std::invalid_argument when a span does not match the shape or the depth is not a
// multiple of 8, and EnvironmentError when a thread it runs on has the wrong floating-point environment.
// Whether the whole GEMM is one whose bits can be predicted is for refuse_prediction to say, before.
#pragma once

#include <span>
#include <vector>

#include "reference/half.h"
#include "reference/linear/gelu_epilogue.h"
#include "reference/linear/gemm.h"
#include "reference/profile.h"

namespace bitproof::reference {

template <Half T>
struct LinearOperands {
  std::span<const T> x;
  std::span<const T> weight;
  std::span<const T> bias;  // empty: none
  GemmShape shape;
  int splits = 1;
};

// Accumulator plus bias in FP32: what every epilogue starts from. NaNs are 0x7FFFFFFF.
template <Half T>
std::vector<float> biased_accumulators(const LinearOperands<T>& operands);

// The bias epilogue: the FP32 sum, rounded once. It is not the GEMM rounded to T plus the bias rounded again.
template <Half T>
std::vector<T> linear(const LinearOperands<T>& operands);

// Eager linear, then GELU: `linear` stores T, and the profile's GELU kernel reads it.
template <Half T>
std::vector<T> linear_gelu_tanh(const LinearOperands<T>& operands, const Profile& profile);

// The GELU_BIAS epilogue: GELU sees the FP32 sum, one rounding at the end.
template <Half T>
std::vector<T> linear_gelu_epilogue(const LinearOperands<T>& operands);

}  // namespace bitproof::reference
