// Stands in for the GPU side of linear + GELU in a build without CUDA or without cuBLASLt's headers.
#include <stdexcept>

#include "conformance/linear/call.h"
#include "conformance/linear/device.h"

namespace bitproof::conformance {
namespace {

constexpr const char* kReason =
    "no cuBLASLt: this build has none; install CUDA 13.0's nvcc and libcublas-dev-13-0 and build again";

}  // namespace

LinearLibrary linear_library() { return {"", kReason}; }

std::optional<std::string> linear_plan_rule(kernels::LinearGeluPath) { return std::nullopt; }

template <reference::Half T>
std::unique_ptr<LinearLauncher<T>> make_device_launcher(kernels::LinearGeluPath, int) {
  throw std::logic_error(kReason);
}

template <reference::Half T>
std::unique_ptr<LinearLauncher<T>> make_device_launcher(LinearCall, int) {
  throw std::logic_error(kReason);
}

std::vector<LinearBenchEntry> bench_linear(const reference::GemmShape&, reference::Dtype, int) {
  throw std::logic_error(kReason);
}

template std::unique_ptr<LinearLauncher<reference::Bf16>> make_device_launcher(kernels::LinearGeluPath, int);
template std::unique_ptr<LinearLauncher<reference::Fp16>> make_device_launcher(kernels::LinearGeluPath, int);
template std::unique_ptr<LinearLauncher<reference::Bf16>> make_device_launcher(LinearCall, int);
template std::unique_ptr<LinearLauncher<reference::Fp16>> make_device_launcher(LinearCall, int);

}  // namespace bitproof::conformance
