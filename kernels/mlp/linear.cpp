#include "kernels/mlp/linear.h"

#include <utility>

#include "kernels/mlp/executor.h"

namespace bitproof::kernels {
namespace {

Matrix accepted_weight(const DLTensor& weight) {
  if (!half_type(weight)) throw Refused("the weight is neither bf16 nor fp16");
  if (weight.ndim != 2 || element_count(weight) <= 0)
    throw Refused("the weight has shape " + shape_text(weight) + "; [columns, depth] is needed");
  if (!is_contiguous(weight)) throw Refused("the weight is not contiguous (row-major without gaps)");
  return Matrix(weight);
}

std::optional<Matrix> accepted_bias(const DLTensor* bias, HalfType dtype, std::int64_t columns) {
  if (bias == nullptr) return std::nullopt;
  if (half_type(*bias) != dtype) throw Refused("the bias is of another dtype than the layer");
  if (bias->ndim != 1 || bias->shape[0] != columns || !is_contiguous(*bias))
    throw Refused("the bias has shape " + shape_text(*bias) + "; the layer's " + std::to_string(columns) +
                  " columns need one element each, without gaps");
  return Matrix(*bias);
}

}  // namespace

Linear::Linear(const DLTensor& weight, const DLTensor* bias)
    : dense_(accepted_weight(weight)),
      bias_(accepted_bias(bias, dense_->dtype(), dense_->rows())),
      dtype_(dense_->dtype()),
      columns_(dense_->rows()),
      depth_(dense_->width()) {}

Linear::Linear(Nvfp4Weight weight, HalfType dtype, const DLTensor* bias)
    : nvfp4_(std::move(weight)),
      bias_(accepted_bias(bias, dtype, nvfp4_->matrix.rows)),
      dtype_(dtype),
      columns_(nvfp4_->matrix.rows),
      depth_(nvfp4_->matrix.depth) {}

BiasOf Linear::run(const DLTensor& x, const DLTensor& output, Executor& executor) const {
  const bool deferred = skip_bias_add && bias_;
  if (nvfp4_) {
    executor.linear_nvfp4(x, *nvfp4_, output);
    if (bias_ && !deferred) executor.add_bias(output, bias_->vector());
  } else {
    describe(deferred, [&](const LinearLayer& layer) { executor.linear(layer, x, output); });
  }
  return deferred ? BiasOf::caller : BiasOf::output;
}

Applicability Linear::with_description(const LinearGeluGuard& guard) const {
  return describe(skip_bias_add, guard);
}

}  // namespace bitproof::kernels
