// Linear + GELU as one call on tensors, whoever wrote it, and what launches it for a check.
#pragma once

#include <functional>
#include <memory>
#include <optional>

#include <dlpack/dlpack.h>

#include "conformance/linear/launcher.h"
#include "conformance/report/record.h"
#include "reference/half.h"

struct CUstream_st;

namespace bitproof::conformance {

// x [rows, K], weight [N, K], bias [N], output [rows, N]: contiguous, and all on one device.
struct LinearTensors {
  const DLTensor& x;
  const DLTensor& weight;
  const DLTensor& bias;
  const DLTensor& output;
};

// Writes the output, in the order of the stream. What a library was asked to run comes back where that is
// known. Throws kernels::Refused, with the reason, for tensors that it does not serve and has not touched.
using LinearCall =
    std::function<std::optional<LibraryAlgorithm>(const LinearTensors& tensors, CUstream_st* stream)>;

// On the CPU, with the null stream.
template <reference::Half T>
std::unique_ptr<LinearLauncher<T>> make_host_launcher(LinearCall call);

// On CUDA device `device_id`. Throws std::logic_error in a build without CUDA or without cuBLASLt's headers.
template <reference::Half T>
std::unique_ptr<LinearLauncher<T>> make_device_launcher(LinearCall call, int device_id);

}  // namespace bitproof::conformance
