// fc2(gelu(fc1(x))): the site where both fusions apply.
#pragma once

#include <string>

#include <dlpack/dlpack.h>

#include "kernels/fusion/module.h"
#include "kernels/linear_gelu/dispatcher.h"
#include "kernels/mlp/executor.h"
#include "kernels/mlp/linear.h"

namespace bitproof::kernels {

class Mlp final : public FusionSite {
 public:
  // The layers outlive the MLP; first.columns() is second.depth(), and the dtypes are equal, else Refused.
  Mlp(std::string name, Linear& first, Linear& second);

  // output [..., second.columns()] from x [..., first.depth()], asynchronously where the executor is. Every
  // bias is added exactly once, whatever is mounted and whoever defers it.
  //
  // Quality::lossless: the bits of the eager sequence, at any time. Quality::high, while mounted:
  //   linear_gelu      first layer and GELU by the epilogue, where the executor can: other bits
  //   nvfp4_bias_gelu  bias and GELU by one kernel, where it can and has been verified: the bits of eager
  // With both, the epilogue wins. Threads: any number may run one MLP, each with an executor of its own.
  void run(const DLTensor& x, const DLTensor& output, Quality quality, Executor& executor) const;

  Linear* first_linear() const override { return &first_; }

 private:
  Linear& first_;
  Linear& second_;
};

// hidden = round(gelu(round(hidden + bias))) in place. Fused where `may_fuse`, the executor can, and the kernel
// has shown the bits of eager for this signature: the first call that is not captured into a graph runs both
// and compares.
void add_bias_and_gelu(const DLTensor& hidden, const DLTensor& bias, bool may_fuse, Executor& executor);

}  // namespace bitproof::kernels
