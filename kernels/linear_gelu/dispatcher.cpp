#include "kernels/linear_gelu/dispatcher.h"

#include <cstdint>

#include "kernels/tensor.h"

namespace bitproof::kernels {

LinearGeluChoice choose_linear_gelu_path(Quality quality, const LinearLayer& layer, const DLTensor& x,
                                         const DLTensor& output, int compute_capability,
                                         const DispatchTable& table) {
  if (quality == Quality::lossless)
    return {LinearGeluPath::eager, "a lossless request takes the eager path: the epilogue's bits differ"};
  const Applicability fused = can_use_fused_linear_gelu(layer, x, output, compute_capability, table);
  if (!fused) return {LinearGeluPath::eager, fused.reason};

  const std::int64_t columns = layer.weight->shape[0], depth = layer.weight->shape[1];
  const std::int64_t rows = element_count(x) / depth;
  const LinearGeluPath path = table.path_for(compute_capability, *half_type(x), rows, columns, depth);
  const ArchitectureRule& rule = table.rule_for(compute_capability);
  if (rule.epilogue == EpilogueSpeed::unmeasured)
    return {path, "the epilogue was not measured on this architecture"};
  return {path, (path == LinearGeluPath::cublaslt ? "the epilogue is the faster path ("
                                                  : "the epilogue is not known to be faster here (") +
                    rule.source + ")"};
}

}  // namespace bitproof::kernels
