#include "reference/nvfp4/linear.h"

#include <stdexcept>

#include "reference/linear/gemm.h"
#include "reference/operators.h"

namespace bitproof::reference {

template <Half T>
std::vector<T> linear_nvfp4(const Nvfp4Matrix& x, const Nvfp4Matrix& weight) {
  if (x.depth != weight.depth) throw std::invalid_argument("linear_nvfp4: the depths differ");
  const std::vector<T> x_products = dequantise_nvfp4<T>(x), weight_products = dequantise_nvfp4<T>(weight);
  const GemmShape shape{.rows = x.rows, .columns = weight.rows, .depth = x.depth};
  const float scale = x.tensor_scale * weight.tensor_scale;
  std::vector<T> result;
  result.reserve(shape.rows * shape.columns);
  for (const float accumulator : gemm<T>(x_products, weight_products, shape))
    result.push_back(round_to<T>(accumulator * scale));
  return result;
}

template <Half T>
std::vector<T> add_bias(std::span<const T> y, std::span<const T> bias, const Profile& profile) {
  if (bias.empty() || y.size() % bias.size() != 0)
    throw std::invalid_argument("add_bias: y must be whole rows of the bias' length");
  std::vector<T> result;
  result.reserve(y.size());
  for (std::size_t i = 0; i < y.size(); ++i)
    result.push_back(round_result<T>(widen(y[i]) + widen(bias[i % bias.size()]), profile));
  return result;
}

#define BITPROOF_INSTANTIATE(T)                                                 \
  template std::vector<T> linear_nvfp4(const Nvfp4Matrix&, const Nvfp4Matrix&); \
  template std::vector<T> add_bias(std::span<const T>, std::span<const T>, const Profile&);
BITPROOF_INSTANTIATE(Bf16)
BITPROOF_INSTANTIATE(Fp16)
#undef BITPROOF_INSTANTIATE

}  // namespace bitproof::reference
