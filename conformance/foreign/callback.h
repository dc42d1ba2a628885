// Kernels behind the C interface's function type: what a program hands to bitproof_check_run and what a shared
// library exports.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "conformance/bitproof.h"
#include "conformance/elementwise/implementation.h"
#include "conformance/foreign/request.h"
#include "conformance/linear/call.h"

namespace bitproof::conformance {

struct Callback {
  bitproof_kernel_function kernel = nullptr;
  void* user_data = nullptr;
  bool returns_output = false;
};

// One call of it. Throws kernels::Refused or std::runtime_error with the reason that the kernel gave.
void call_kernel(const Callback& callback, std::string_view op, reference::Dtype dtype,
                 std::span<const DLTensor* const> inputs, const DLTensor& output, CUstream_st* stream);

// As a call of linear + GELU, whose inputs are x, weight and bias.
LinearCall linear_callback(const ForeignRequest& request, const Callback& callback);

// As an implementation of an elementwise operator, for calls one at a time. `run` throws kernels::Refused or
// std::runtime_error with the reason that the kernel gave.
ElementwiseImplementation callback_implementation(std::string name, Location location,
                                                  const ForeignRequest& request, const Callback& callback);

// Copies `result` to where the call's output is, in stream order; behind bitproof_call_return. Throws
// std::invalid_argument for a tensor of another shape, dtype, device or layout, and std::logic_error for a call
// out of turn.
void return_output(const bitproof_call& call, const DLTensor& result);

}  // namespace bitproof::conformance
