// A linear layer of a model.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>

#include <dlpack/dlpack.h>

#include "kernels/elementwise_guard.h"
#include "kernels/linear_gelu/guard.h"
#include "kernels/mlp/matrix.h"
#include "kernels/nvfp4/nvfp4.h"

namespace bitproof::kernels {

class Executor;

// Whether the epilogue can serve a layer: the static part of the guard, on the device at hand.
using LinearGeluGuard = std::function<Applicability(const LinearLayer&)>;

// Who adds the bias of a run: its output has it, or the caller owes it.
enum class BiasOf { output, caller };

class Linear {
 public:
  // weight [columns, depth] and bias [columns], bf16 or fp16, whose memory outlives the layer. A null bias is
  // none. Throws Refused when the tensors do not fit each other.
  explicit Linear(const DLTensor& weight, const DLTensor* bias = nullptr);
  // The same with a weight in NVFP4; inputs, outputs and bias are of `dtype`.
  Linear(Nvfp4Weight weight, HalfType dtype, const DLTensor* bias = nullptr);

  // Leaves the bias to whoever comes next. A run reads it once.
  std::atomic<bool> skip_bias_add{false};

  // output [..., columns] = x [..., depth] * weight^T, plus the bias unless it is skipped. A dense layer adds
  // it in the GEMM's epilogue, before the one rounding; an NVFP4 layer by a kernel of its own, a second
  // rounding. BiasOf::caller: the caller owes the output bias(). Throws Refused.
  [[nodiscard]] BiasOf run(const DLTensor& x, const DLTensor& output, Executor& executor) const;

  bool is_nvfp4() const { return nvfp4_.has_value(); }
  bool has_bias() const { return bias_.has_value(); }
  const Matrix& bias() const { return *bias_; }
  HalfType dtype() const { return dtype_; }
  std::int64_t columns() const { return columns_; }
  std::int64_t depth() const { return depth_; }

  // The guard's answer for this layer. What it says of the bias counts for who sees the layer from outside: a
  // skipped one is deferred.
  Applicability with_description(const LinearGeluGuard& guard) const;

  // Calls `use` with the layer as the epilogue sees it, which adds the bias itself.
  template <class Use>
  decltype(auto) with_epilogue_description(Use&& use) const {
    return describe(false, std::forward<Use>(use));
  }

 private:
  template <class Use>
  decltype(auto) describe(bool bias_deferred, Use&& use) const {
    const std::optional<DLTensor> weight = dense_ ? std::optional(dense_->tensor()) : std::nullopt;
    const std::optional<DLTensor> bias = bias_ ? std::optional(bias_->vector()) : std::nullopt;
    return std::forward<Use>(use)(LinearLayer{.weight = weight ? &*weight : nullptr,
                                              .bias = bias ? &*bias : nullptr,
                                              .weight_quantised = nvfp4_.has_value(),
                                              .bias_deferred = bias_deferred});
  }

  std::optional<Matrix> dense_;
  std::optional<Nvfp4Weight> nvfp4_;
  std::optional<Matrix> bias_;
  HalfType dtype_;
  std::int64_t columns_, depth_;
};

}  // namespace bitproof::kernels
