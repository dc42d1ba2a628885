#include "kernels/mlp/mlp.h"

#include <cstdint>
#include <string>

#include "kernels/tensor.h"

namespace bitproof::kernels {
namespace {

void add_bias_and_gelu_eager(const DLTensor& hidden, const DLTensor& bias, Executor& executor) {
  executor.add_bias(hidden, bias);
  executor.gelu(hidden);
}

// Both paths, in place as they will run; the result is eager's.
void verify_at_first_sight(const KernelSignature& signature, const DLTensor& hidden, const DLTensor& bias,
                           Executor& executor) {
  const RowsByWidth shape = rows_by_width(hidden);
  const Matrix aside = executor.scratch(Scratch::first_sight, signature.dtype, shape.rows, shape.width);
  const DLTensor fused = aside.tensor();
  executor.copy(hidden, fused);
  executor.bias_gelu(fused, bias, fused);
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

// All leading axes folded into rows.
Matrix rows_of(const std::string& name, const DLTensor& tensor, std::int64_t width) {
  if (tensor.ndim < 1 || element_count(tensor) <= 0 || tensor.shape[tensor.ndim - 1] != width)
    throw Refused(name + " has shape " + shape_text(tensor) + "; rows of " + std::to_string(width) +
                  " are needed");
  if (!half_type(tensor)) throw Refused(name + " is neither bf16 nor fp16");
  if (!is_contiguous(tensor)) throw Refused(name + " is not contiguous (row-major without gaps)");
  return Matrix(tensor);
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
  const Matrix x_rows = rows_of("x", x, first_.depth()),
               output_rows = rows_of("the output", output, second_.columns());
  if (x_rows.rows() != output_rows.rows())
    throw Refused("x has shape " + shape_text(x) + ", the output " + shape_text(output) +
                  "; their rows must match");
  const DLTensor in = x_rows.tensor(), out = output_rows.tensor();
  const bool high = quality == Quality::high;
  const Matrix memory = executor.scratch(Scratch::hidden, first_.dtype(), x_rows.rows(), first_.columns());
  const DLTensor hidden = memory.tensor();

  if (!high || !is_mounted(Fusion::linear_gelu) || !try_epilogue(first_, in, hidden, executor)) {
    if (first_.run(in, hidden, executor) == BiasOf::output) {
      executor.gelu(hidden);
    } else {
      add_bias_and_gelu(hidden, first_.bias().vector(), high && is_mounted(Fusion::nvfp4_bias_gelu), executor);
    }
  }
  if (second_.run(hidden, out, executor) == BiasOf::caller) executor.add_bias(out, second_.bias().vector());
}

}  // namespace bitproof::kernels
