#include "reference/nvfp4/mlp.h"

#include "reference/bulk.h"
#include "reference/linear/linear.h"
#include "reference/nvfp4/linear.h"

namespace bitproof::reference {
namespace {

template <Half T>
LinearOperands<T> operands(std::span<const T> x, const DenseLayer<T>& layer) {
  return {.x = x,
          .weight = layer.weight,
          .bias = layer.bias,
          .shape = {.rows = x.size() / layer.depth, .columns = layer.columns, .depth = layer.depth}};
}

}  // namespace

template <Half T>
std::vector<T> mlp_gelu(std::span<const T> x, const DenseLayer<T>& first, const DenseLayer<T>& second,
                        const Profile& profile) {
  const std::vector<T> hidden = linear_gelu_tanh(operands(x, first), profile);
  return linear(operands<T>(hidden, second));
}

template <Half T>
std::vector<T> mlp_gelu_epilogue(std::span<const T> x, const DenseLayer<T>& first,
                                 const DenseLayer<T>& second) {
  const std::vector<T> hidden = linear_gelu_epilogue(operands(x, first));
  return linear(operands<T>(hidden, second));
}

template <Half T>
std::vector<T> mlp_gelu_nvfp4(const Nvfp4Matrix& x, const Nvfp4Matrix& first_weight,
                              std::span<const T> first_bias, const DenseLayer<T>& second,
                              const Profile& profile) {
  std::vector<T> hidden = linear_nvfp4<T>(x, first_weight);
  bias_gelu_tanh<T>(hidden, first_bias, hidden, profile);
  return linear(operands<T>(hidden, second));
}

#define BITPROOF_INSTANTIATE(T)                                                                              \
  template std::vector<T> mlp_gelu(std::span<const T>, const DenseLayer<T>&, const DenseLayer<T>&,           \
                                   const Profile&);                                                          \
  template std::vector<T> mlp_gelu_epilogue(std::span<const T>, const DenseLayer<T>&, const DenseLayer<T>&); \
  template std::vector<T> mlp_gelu_nvfp4(const Nvfp4Matrix&, const Nvfp4Matrix&, std::span<const T>,         \
                                         const DenseLayer<T>&, const Profile&);
BITPROOF_INSTANTIATE(Bf16)
BITPROOF_INSTANTIATE(Fp16)
#undef BITPROOF_INSTANTIATE

}  // namespace bitproof::reference
