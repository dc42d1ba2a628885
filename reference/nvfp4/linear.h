// A linear layer in NVFP4: both operands quantised, the GEMM in FP32 on the exact products value * scale, then
// the tensor scales in one FP32 multiplication, then one rounding to the dtype:
//
//   y = round(accumulator * (tensor scale of x * tensor scale of the weight))
//
// Its bias is added afterwards by an eager kernel, a second rounding: never in the GEMM's epilogue. So who adds
// it, that kernel or a later fused one, changes no bit.
#pragma once

#include <span>
#include <vector>

#include "reference/half.h"
#include "reference/nvfp4/quantise.h"
#include "reference/profile.h"

namespace bitproof::reference {

// x [rows, depth], weight [columns, depth], result [rows, columns]. One split (reference/linear/gemm.h), the
// operands in T; which of the two formats does not matter to the accumulators.
template <Half T>
std::vector<T> linear_nvfp4(const Nvfp4Matrix& x, const Nvfp4Matrix& weight);

// round(y + bias), the bias repeated for every row of bias.size().
template <Half T>
std::vector<T> add_bias(std::span<const T> y, std::span<const T> bias, const Profile& profile);

}  // namespace bitproof::reference
