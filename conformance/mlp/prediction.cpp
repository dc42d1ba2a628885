#include "conformance/mlp/prediction.h"

#include "reference/linear/gemm.h"
#include "reference/nvfp4/mlp.h"
#include "reference/nvfp4/quantise.h"

namespace bitproof::conformance {

std::vector<std::size_t> spread_row_numbers(std::uint64_t rows, std::uint64_t count) {
  std::vector<std::size_t> result;
  for (std::uint64_t i = 0; i < count; ++i) result.push_back(i * rows / count);
  return result;
}

template <reference::Half T>
std::vector<T> predicted_rows(MlpConfiguration configuration, const MlpOperands<T>& operands,
                              std::uint64_t seed, std::span<const std::size_t> rows,
                              const reference::Profile& profile) {
  const std::size_t depth = operands.shape.depth;
  const std::vector<T> x = reference::gather_rows<T>(operands.x, depth, rows);
  if (configuration == MlpConfiguration::high_epilogue)
    return reference::mlp_gelu_epilogue<T>(x, operands.first(), operands.second());
  if (!is_nvfp4(configuration)) return reference::mlp_gelu<T>(x, operands.first(), operands.second(), profile);
  // The tensor scale is that of the whole tensor.
  const reference::Nvfp4Matrix quantised =
      reference::quantise_nvfp4<T>(x, depth, reference::nvfp4_tensor_scale<T>(operands.x));
  return reference::mlp_gelu_nvfp4<T>(quantised, *nvfp4_weight<T>(operands.shape, seed), operands.bias1,
                                      operands.second(), profile);
}

#define BITPROOF_INSTANTIATE(T)                                                                  \
  template std::vector<T> predicted_rows(MlpConfiguration, const MlpOperands<T>&, std::uint64_t, \
                                         std::span<const std::size_t>, const reference::Profile&);
BITPROOF_INSTANTIATE(reference::Bf16)
BITPROOF_INSTANTIATE(reference::Fp16)
#undef BITPROOF_INSTANTIATE

}  // namespace bitproof::conformance
