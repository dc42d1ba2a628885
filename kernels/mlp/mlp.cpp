#include "kernels/mlp/mlp.h"

#include <string>
#include <utility>

#include "kernels/tensor.h"

namespace bitproof::kernels {
namespace {

void add_bias_and_gelu_eager(const DLTensor& hidden, const DLTensor& bias, Executor& executor) {
  executor.add_bias(hidden, bias);
  executor.gelu(hidden);
}

// Both paths; the result is eager's.
void verify_at_first_sight(const KernelSignature& signature, const DLTensor& hidden, const DLTensor& bias,
                           Executor& executor) {
  const RowsByWidth shape = rows_by_width(hidden);
  const Matrix aside = executor.scratch(Scratch::first_sight, signature.dtype, shape.rows, shape.width);
  const DLTensor fused = aside.tensor();
  executor.poison(fused);
  executor.bias_gelu(hidden, bias, fused);
  add_bias_and_gelu_eager(hidden, bias, executor);
  executor.sights().record(signature, executor.first_difference(hidden, fused));
}

bool try_epilogue(const Linear& layer, const DLTensor& x, const DLTensor& hidden, Executor& executor) {
  return layer.with_epilogue_description([&](const LinearLayer& described) {
    if (!executor.can_use_linear_gelu(described, x, hidden)) return false;
    executor.linear_gelu(described, x, hidden);
    return true;
  });
}

}  // namespace

void add_bias_and_gelu(const DLTensor& hidden, const DLTensor& bias, bool may_fuse, Executor& executor) {
  if (!may_fuse || !executor.can_use_bias_gelu(hidden, bias, hidden))
    return add_bias_and_gelu_eager(hidden, bias, executor);
  const KernelSignature signature = signature_of(executor.compute_capability(), hidden);
  switch (executor.sights().of(signature)) {
    case Sight::equal:
      return executor.bias_gelu(hidden, bias, hidden);
    case Sight::different:
      return add_bias_and_gelu_eager(hidden, bias, executor);
    case Sight::unseen:
      break;
  }
  if (executor.is_capturing()) return add_bias_and_gelu_eager(hidden, bias, executor);
  verify_at_first_sight(signature, hidden, bias, executor);
}

Mlp::Mlp(std::string name, Linear& first, Linear& second)
    : FusionSite(std::move(name)), first_(first), second_(second) {
  if (first.columns() != second.depth() || first.dtype() != second.dtype())
    throw Refused("the second layer does not take what the first one gives");
}

void Mlp::run(const DLTensor& x, const DLTensor& output, Quality quality, Executor& executor) const {
  if (x.ndim < 1 || element_count(x) <= 0 || x.shape[x.ndim - 1] != first_.depth())
    throw Refused("x has shape " + shape_text(x) + "; rows of " + std::to_string(first_.depth()) +
                  " are needed");
  const bool high = quality == Quality::high;
  const Matrix memory =
      executor.scratch(Scratch::hidden, first_.dtype(), rows_by_width(x).rows, first_.columns());
  const DLTensor hidden = memory.tensor();

  if (!high || !is_mounted(Fusion::linear_gelu) || !try_epilogue(first_, x, hidden, executor)) {
    if (first_.run(x, hidden, executor) == BiasOf::output) {
      executor.gelu(hidden);
    } else {
      add_bias_and_gelu(hidden, first_.bias().vector(), high && is_mounted(Fusion::nvfp4_bias_gelu), executor);
    }
  }
  if (second_.run(hidden, output, executor) == BiasOf::caller)
    executor.add_bias(output, second_.bias().vector());
}

}  // namespace bitproof::kernels
