// `bitproof bench` for linear + GELU: both paths side by side, and the dispatch table that follows from them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "conformance/device/cuda_devices.h"
#include "conformance/report/result.h"
#include "reference/half.h"
#include "reference/linear/gemm.h"

namespace bitproof::conformance {

struct LinearBench {
  std::vector<reference::GemmShape> shapes;
  std::vector<reference::Dtype> dtypes;
  std::optional<std::filesystem::path> dispatch_file;  // where to write the table
};

// "512x3072x12288": rows, depth, columns.
Result<reference::GemmShape> parse_gemm_shape(const std::string& text);

// Measures, prints a table or appends to `entries` (a JSON array, null: print), writes the dispatch file if all
// bits were right. Returns the exit status.
int bench_linear_layers(const LinearBench& bench, const CudaDevice& device, nlohmann::ordered_json* entries);

}  // namespace bitproof::conformance
