// An MLP as eager runs it: a linear layer, tanh GELU, a second linear layer; y = fc2(gelu(fc1(x))). Where the
// first layer is in NVFP4, or fused with GELU, its bits are other ones.
#pragma once

#include <span>
#include <vector>

#include "reference/half.h"
#include "reference/nvfp4/quantise.h"
#include "reference/profile.h"

namespace bitproof::reference {

// weight [columns, depth]; an empty bias is none.
template <Half T>
struct DenseLayer {
  std::span<const T> weight, bias;
  std::size_t columns = 0, depth = 0;
};

// x is [rows, first.depth], the result [rows, second.columns].
template <Half T>
std::vector<T> mlp_gelu(std::span<const T> x, const DenseLayer<T>& first, const DenseLayer<T>& second,
                        const Profile& profile);

// The first layer and GELU by cuBLASLt's GELU_BIAS epilogue.
template <Half T>
std::vector<T> mlp_gelu_epilogue(std::span<const T> x, const DenseLayer<T>& first, const DenseLayer<T>& second);

// The first layer in NVFP4: its product rounded, the bias added and rounded, then GELU.
template <Half T>
std::vector<T> mlp_gelu_nvfp4(const Nvfp4Matrix& x, const Nvfp4Matrix& first_weight,
                              std::span<const T> first_bias, const DenseLayer<T>& second,
                              const Profile& profile);

}  // namespace bitproof::reference
