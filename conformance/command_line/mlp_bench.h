// The part of `bitproof bench` that times an MLP with and without fusion.
#pragma once

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "conformance/device/cuda_devices.h"
#include "reference/half.h"

namespace bitproof::conformance {

// Wan2.2's MLP at 4,096 and at 32,760 rows on `device`. Prints a table, or adds to `entries` where it is not
// null. Returns the exit status.
int bench_mlp_shapes(const std::vector<reference::Dtype>& dtypes, const CudaDevice& device,
                     nlohmann::ordered_json* entries);

}  // namespace bitproof::conformance
