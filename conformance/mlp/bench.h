// Times of an MLP with and without fusion, in one run, and the proof that what was timed is right.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/bench/time_summary.h"
#include "conformance/mlp/operands.h"
#include "reference/half.h"

namespace bitproof::conformance {

struct MlpBenchEntry {
  std::string implementation;  // "cuda.lossless", "cuda.high_nvfp4", ...
  std::string against;         // the same site without fusion, run in turns with it
  TimeSummary times;
  double ratio = 0;  // median over that of `against`
  // Rows of the output of a run after the timed ones that were compared with the prediction, and whether all
  // bits were right.
  std::uint64_t rows_compared = 0;
  bool right_bits = false;
};

// A dense site, lossless and through the epilogue, and an NVFP4 site, lossless and with bias and GELU fused: in
// turns, on device `device_id`. Throws kernels::Refused, kernels::cuda::CudaError and CublasLtError.
std::vector<MlpBenchEntry> bench_mlp(const MlpShape& shape, reference::Dtype dtype, int device_id);

}  // namespace bitproof::conformance
