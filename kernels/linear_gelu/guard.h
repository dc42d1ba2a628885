// May linear + GELU be fused by cuBLASLt's GELU_BIAS epilogue, and if not, why not in words.
//
// The first function asks what is known when a model is built, the second what only an input tells; both must
// say yes.
#pragma once

#include <dlpack/dlpack.h>

#include "kernels/elementwise_guard.h"
#include "kernels/linear_gelu/dispatch_table.h"

namespace bitproof::kernels {

// A linear layer as its framework describes it.
struct LinearLayer {
  const DLTensor* weight = nullptr;  // [N, K]; null: the layer has none of its own
  const DLTensor* bias = nullptr;    // [N]; null: none
  bool weight_quantised = false;     // the elements are codes or need scales, whatever dtype they are stored as
  bool bias_deferred = false;        // the bias is returned for a later kernel to add (skip_bias_add)
  bool output_gathered = false;      // the output's columns are gathered over several ranks before GELU
};

// Yes if: the weight is there, [N, K], bf16 or fp16, not quantised, contiguous, on a CUDA device; the bias is
// there, [N], of the weight's dtype and device, contiguous and not deferred; both, and every row of the weight
// and of the output, start at multiples of 16 bytes; the output is not gathered; and the epilogue is not known
// to be slower than GEMM followed by GELU on `compute_capability` (90 for 9.0).
Applicability can_use_fused_linear_gelu_layer(const LinearLayer& layer, int compute_capability,
                                              const DispatchTable& table = {});

// For a layer that the function above accepts. Yes if: x is [..., K] and the output [..., N] with the same
// leading extents, all positive; both have the weight's dtype and device, are contiguous and start at multiples
// of 16 bytes; and the output overlaps none of x, weight and bias.
Applicability can_use_fused_linear_gelu_input(const LinearLayer& layer, const DLTensor& x,
                                              const DLTensor& output);

// The tensors of both functions above alone: what any path through cuBLASLt needs, whether fusing pays off or
// not.
Applicability can_compute_linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output);

// The tensors of a linear layer through cuBLASLt, without GELU and with or without a bias.
Applicability can_compute_linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output);

// Both.
Applicability can_use_fused_linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output,
                                        int compute_capability, const DispatchTable& table = {});

}  // namespace bitproof::kernels
