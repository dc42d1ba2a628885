// The row-wise kernels of this project as the emulator launches them: which functions of a listing, over which
// grid, with which parameters. The counterpart of the host code in kernels/cuda/{fused,eager,baseline}.cu.
#pragma once

#include <memory>
#include <string_view>

#include "conformance/elementwise/placement.h"
#include "conformance/emulator/listing.h"
#include "kernels/architecture.h"
#include "kernels/elementwise_guard.h"
#include "reference/half.h"

namespace bitproof::conformance::emulator {

enum class KernelFamily { fused, eager, baseline };

// "cuda.fused": whose machine code a family is.
std::string_view machine_code_of(KernelFamily family);

// One family's kernels for an operator and dtype, decoded. Immutable: blocks may run concurrently.
class EmulatedKernels {
 public:
  // Throws Unsupported where the listing lacks a kernel or the emulator does not know an instruction of it.
  EmulatedKernels(KernelFamily family, const Listing& listing, reference::Dtype dtype, bool has_bias);
  ~EmulatedKernels();
  EmulatedKernels(const EmulatedKernels&) = delete;
  EmulatedKernels& operator=(const EmulatedKernels&) = delete;

  kernels::Applicability can_use(const Tensors& tensors) const;
  // Computes the output. Throws kernels::Refused, CodeFault, Unsupported.
  void run(const Tensors& tensors) const;

 private:
  struct Decoded;
  std::unique_ptr<const Decoded> decoded_;
};

}  // namespace bitproof::conformance::emulator
