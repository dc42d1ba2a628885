// Where an MLP under test runs: memory, and executors.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "kernels/mlp/executor.h"
#include "kernels/mlp/host_executor.h"
#include "kernels/mlp/linear.h"
#include "reference/half.h"

struct CUstream_st;

namespace bitproof::conformance {

// What an output holds after a run.
struct MlpOutput {
  std::vector<std::uint16_t> bits;
  std::uint64_t overwritten = 0;  // elements of the guard bands around it
};

class MlpPlace {
 public:
  virtual ~MlpPlace() = default;

  // A fresh executor that has seen no signature, and tells differences at first sight to `log`.
  virtual std::unique_ptr<kernels::Executor> new_executor(kernels::Log log) = 0;

  // The static part of the epilogue's guard here, its speed aside: what is checked is bits.
  virtual kernels::LinearGeluGuard guard() const = 0;

  // A matrix with these bits, kept as long as the place.
  virtual kernels::Matrix upload(std::span<const std::uint16_t> bits, std::uint64_t rows, std::uint64_t width,
                                 reference::Dtype dtype) = 0;

  // The output: one at a time, between guard bands, all of it poisoned.
  virtual kernels::Matrix poisoned_output(std::uint64_t rows, std::uint64_t width, reference::Dtype dtype) = 0;

  // Waits, and fetches it.
  virtual MlpOutput fetch_output() = 0;

  // Of a GPU: what its executors run on. Null on the CPU.
  virtual CUstream_st* stream() const { return nullptr; }
};

// The CPU. The accumulators of its GEMMs are the reference's, the same that a prediction is made of: what is
// checked there is everything else, and records say so in place of a library's version.
std::unique_ptr<MlpPlace> make_host_place();
kernels::HostGemm reference_gemm();
inline constexpr const char* kHostGemm = "reference GEMM";

// On CUDA device `device_id`. Throws kernels::Refused where cuBLASLt cannot be loaded.
std::unique_ptr<MlpPlace> make_device_place(int device_id, bool native_nvfp4);

constexpr kernels::HalfType half_type_of(reference::Dtype dtype) {
  return dtype == reference::Dtype::bf16 ? kernels::HalfType::bf16 : kernels::HalfType::fp16;
}

}  // namespace bitproof::conformance
