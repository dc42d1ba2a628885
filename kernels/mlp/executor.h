// Carries out the steps of an MLP, in order, on one device: a GPU's stream, or the CPU.
//
// Threads: an executor belongs to one thread at a time, as a stream does. Layers and MLPs may be shared by any
// number of executors.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include <dlpack/dlpack.h>

#include "kernels/elementwise_guard.h"
#include "kernels/fusion/first_sight.h"
#include "kernels/linear_gelu/guard.h"
#include "kernels/mlp/matrix.h"
#include "kernels/nvfp4/nvfp4.h"

namespace bitproof::kernels {

// What scratch memory is for; memory for different purposes does not overlap.
enum class Scratch { hidden, first_sight };

class Executor {
 public:
  // `sights` is shared by all executors whose fused kernels are the same code.
  explicit Executor(std::shared_ptr<FirstSight> sights) : sights_(std::move(sights)) {}
  virtual ~Executor() = default;
  Executor(const Executor&) = delete;
  Executor& operator=(const Executor&) = delete;

  FirstSight& sights() const { return *sights_; }

  virtual int compute_capability() const = 0;  // 90 for 9.0; 0 on the CPU
  // Whether a graph is being captured: nothing runs, memory cannot grow, nothing can be waited for.
  virtual bool is_capturing() const = 0;

  // A [rows, width] matrix of the executor's own, of undefined content, until the next call for the same
  // purpose.
  virtual Matrix scratch(Scratch purpose, HalfType dtype, std::int64_t rows, std::int64_t width) = 0;

  // --- Steps; each throws Refused for tensors it cannot serve, and touches nothing then ---------------------

  // round(x * weight^T + bias), one rounding; without the bias where the layer has none or defers it.
  virtual void linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) = 0;

  // round(x * weight^T) in NVFP4 (nvfp4/nvfp4.h), without a bias.
  virtual void linear_nvfp4(const DLTensor& x, const Nvfp4Weight& weight, const DLTensor& output) = 0;

  // linear + GELU by the epilogue: other bits than linear, then gelu.
  virtual Applicability can_use_linear_gelu(const LinearLayer& layer, const DLTensor& x,
                                            const DLTensor& output) const = 0;
  virtual void linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) = 0;

  // In place: round(tensor + bias), round(gelu(tensor)).
  virtual void add_bias(const DLTensor& tensor, const DLTensor& bias) = 0;
  virtual void gelu(const DLTensor& tensor) = 0;

  // Both in one pass: the bits of the two above. The output may be the input.
  virtual Applicability can_use_bias_gelu(const DLTensor& input, const DLTensor& bias,
                                          const DLTensor& output) const = 0;
  virtual void bias_gelu(const DLTensor& input, const DLTensor& bias, const DLTensor& output) = 0;

  // Copies the elements of one tensor to another of its shape.
  virtual void copy(const DLTensor& from, const DLTensor& to) = 0;
  // Waits for the steps before.
  virtual std::optional<BitDifference> first_difference(const DLTensor& eager, const DLTensor& fused) = 0;

  // --- Weights ---------------------------------------------------------------------------------------------

  // The dense [columns, depth] weight in NVFP4, on the executor's device.
  virtual Nvfp4Weight quantise_weight(const DLTensor& weight) = 0;

  // A weight that was quantised before, from the CPU's memory, for a layer of `dtype`. Refused when a code is
  // no scale.
  virtual Nvfp4Weight load_weight(const Nvfp4Codes& codes, HalfType dtype) = 0;

 private:
  std::shared_ptr<FirstSight> sights_;
};

}  // namespace bitproof::kernels
