// Kernels behind the C interface's function type: what a program hands to bitproof_check_run and what a shared
// library exports.
#pragma once

#include <string>

#include "conformance/bitproof.h"
#include "conformance/elementwise/implementation.h"
#include "conformance/foreign/request.h"

namespace bitproof::conformance {

struct Callback {
  bitproof_kernel_function kernel = nullptr;
  void* user_data = nullptr;
  bool returns_output = false;
};

// Calls one at a time. `run` throws kernels::Refused or std::runtime_error with the reason that the kernel
// gave.
ElementwiseImplementation callback_implementation(std::string name, Location location,
                                                  const ForeignRequest& request, const Callback& callback);

// Copies `result` to where the call's output is, in stream order; behind bitproof_call_return. Throws
// std::invalid_argument for a tensor of another shape, dtype, device or layout, and std::logic_error for a call
// out of turn.
void return_output(const bitproof_call& call, const DLTensor& result);

}  // namespace bitproof::conformance
