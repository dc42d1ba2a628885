// Stands in for the GPU in a build without CUDA or without cuBLASLt's headers.
#include <stdexcept>

#include "conformance/mlp/bench.h"
#include "conformance/mlp/place.h"
#include "kernels/elementwise_guard.h"

namespace bitproof::conformance {

std::unique_ptr<MlpPlace> make_device_place(int, bool) {
  throw kernels::Refused(
      "this build has no cuBLASLt: install CUDA 13.0 with libcublas-dev-13-0, and build again");
}

std::vector<MlpBenchEntry> bench_mlp(const MlpShape&, reference::Dtype, int) {
  throw std::logic_error("a build without cuBLASLt finds no device to time");
}

}  // namespace bitproof::conformance
