// linear_gelu_tanh: x [..., K] times weight [N, K] transposed, plus bias [N], then the tanh form of GELU; bf16
// and fp16, FP32 accumulation, through cuBLASLt.
//
//   LinearGeluPath::eager     round(gelu(widen(round(acc + bias)))): a GEMM whose epilogue adds the bias in
//   FP32 and rounds
//                             once, then the production GELU kernel in place. The bits of eager linear + GELU.
//   LinearGeluPath::cublaslt  round(gelu'(acc + bias)) in one kernel, gelu' being that of the GELU_BIAS
//   epilogue. Never the
//                             same bits; reference/linear/gelu_epilogue.h predicts them.
#pragma once

#include <dlpack/dlpack.h>

#include "kernels/elementwise_guard.h"
#include "kernels/linear_gelu/dispatch_table.h"
#include "kernels/linear_gelu/guard.h"
#include "kernels/linear_gelu/linear_plan.h"

struct CUstream_st;

namespace bitproof::kernels::cuda {

// Yes if the tensors are as both parts of the guard want them (speed and gathering aside: those are the
// dispatcher's concern) and cuBLASLt can be loaded.
Applicability can_use_linear_gelu_tanh(const LinearLayer& layer, const DLTensor& x, const DLTensor& output);

// A layer prepared for one number of rows.
class LinearGeluTanh {
 public:
  // For inputs of x's shape, on x's device. Throws Refused with a reason in words.
  LinearGeluTanh(LinearGeluPath path, const LinearLayer& layer, const DLTensor& x, const DLTensor& output);

  // Asynchronously on `stream`. Throws Refused when the tensors are not of the shape, dtype and device that
  // this was made for. Two calls of one object must not overlap in time.
  void operator()(const LinearLayer& layer, const DLTensor& x, const DLTensor& output,
                  CUstream_st* stream) const;

  // Which algorithm was chosen.
  const CublasLtAlgorithm& algorithm() const { return plan_.algorithm(); }
  LinearGeluPath path() const { return path_; }

 private:
  LinearGeluPath path_;
  int device_id_;
  LinearPlan plan_;
};

}  // namespace bitproof::kernels::cuda
