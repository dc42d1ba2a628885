// What the GPU side of linear + GELU gives to a plan. In a build without CUDA or without cuBLASLt's headers it
// says so.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/bench/time_summary.h"
#include "conformance/linear/domains.h"
#include "conformance/linear/launcher.h"
#include "kernels/linear_gelu/dispatch_table.h"

namespace bitproof::conformance {

// The cuBLASLt that would be loaded here: its version, or why there is none, remedy included. Loads it on the
// first call.
struct LinearLibrary {
  std::string version;  // "13.1.0"
  std::string reason;   // empty if it is there
};
LinearLibrary linear_library();

// How a path's cuBLASLt call is made, in words that change when the call does; nothing in a build without it.
std::optional<std::string> linear_plan_rule(kernels::LinearGeluPath path);

// On CUDA device `device_id`.
template <reference::Half T>
std::unique_ptr<LinearLauncher<T>> make_device_launcher(kernels::LinearGeluPath path, int device_id);

// One path at one shape, and the proof that what was timed is right.
struct LinearBenchEntry {
  std::string implementation;  // "cuda.eager", "cuda.cublaslt", "copy kernel"
  std::string algorithm;       // cuBLASLt's; empty for the copy
  TimeSummary times;
  double flops_per_second = 0;  // 2 * rows * columns * depth, whatever the implementation does
  double bytes_per_second = 0;  // operands read once and the output written once
  double ratio_to_copy = 0;     // median over that of a copy of the output
  // Rows of the output of a launch after the timed ones that were compared with the prediction, and whether all
  // bits were right.
  std::uint64_t rows_compared = 0;
  bool right_bits = false;
};

// Both paths of a layer and a copy of its output, launches interleaved, on device `device_id`. Throws
// kernels::Refused, kernels::cuda::CudaError and CublasLtError.
std::vector<LinearBenchEntry> bench_linear(const reference::GemmShape& shape, reference::Dtype dtype,
                                           int device_id);

}  // namespace bitproof::conformance
