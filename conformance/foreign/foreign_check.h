// Checks of kernels that are not ours: the same domains, poison, guards and comparison as for our own.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/check.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/elementwise/implementation.h"
#include "conformance/foreign/request.h"
#include "conformance/linear/call.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

// Somebody else's kernel, not loaded yet.
struct ForeignKernel {
  std::string name;  // what records call the implementation
  Location location = Location::host;
  bool returns_output = false;   // it allocates its result, which `run` then copies into place
  std::string machine_code_key;  // SHA-256 of its code where that is known
  // Its implementation, made where the check runs: the one or, of linear_gelu_tanh, the other. Throws what
  // keeps it from being loaded. Both empty: it cannot run here, for `unavailable`.
  std::function<ElementwiseImplementation()> load;
  std::function<LinearCall()> load_linear;
  std::string unavailable;
  // The command that runs one block of a domain again.
  std::function<std::string(const std::string& domain, std::uint64_t block)> reproduce;
};

// A check per domain, on `device`; where there is none, on the CPU if that is where the kernel runs. Nobody
// asks these kernels to refuse outputs that overlap an input, or layers whose bits are not predicted: `layout`
// has no such case for them, and of those that return their output none that is about where it lies.
std::vector<PlannedCheck> plan_foreign(const ForeignRequest& request, const ForeignKernel& kernel,
                                       const std::optional<CudaDevice>& device);

// All blocks of a check, one after the other on this thread. What it throws becomes verdict `error`.
Record run_here(const PlannedCheck& planned);

// The verdict of all records together: the first of error, mismatch, refused, not_run that one of them has,
// else within_contract, else bit_exact. Nothing checked is not_run.
Verdict worst_verdict(const std::vector<Record>& records);

}  // namespace bitproof::conformance
