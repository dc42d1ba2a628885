// A linear layer's GEMM with an epilogue, planned once for a shape: output = epilogue(x * weight^T) with FP32
// accumulation.
//
// The algorithm is chosen when the plan is made, explicitly, and is on record: the same plan gives the same
// bits at every run, and a prediction can be made for exactly that algorithm.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include "kernels/tensor.h"

namespace bitproof::kernels::cuda {

enum class LinearEpilogue {
  none,       // round(acc)
  bias,       // round(acc + bias)
  gelu,       // round(gelu(acc))
  gelu_bias,  // round(gelu(acc + bias))
};

// What x and the weight are stored as.
enum class LinearOperands {
  dtype,  // bf16 or fp16
  nvfp4,  // E2M1 with E4M3 scales in tiles of 128 x 4; from sm_100 on
};

enum class SplitPolicy {
  one_split,        // the k range of an output is summed by one thread block, in order
  library_default,  // what cuBLASLt's heuristic ranks first, split or not
};

// x [rows, depth], weight [columns, depth], bias [columns], output [rows, columns].
struct LinearProblem {
  std::int64_t rows = 0, columns = 0, depth = 0;
  HalfType dtype = HalfType::bf16;  // of x and the weight
  bool fp32_output = false;         // output and bias in FP32 in place of `dtype`
  LinearEpilogue epilogue = LinearEpilogue::bias;
  SplitPolicy splits = SplitPolicy::one_split;
  LinearOperands operands = LinearOperands::dtype;
  bool scaled = false;  // epilogue none: round(scale * acc), the scale an FP32 number in device memory
};

// NVFP4 codes and their scales, in device memory.
struct Nvfp4Operand {
  const void* values = nullptr;
  const void* scales = nullptr;
};

// The attributes CUBLASLT_ALGO_CONFIG_* of the chosen algorithm.
struct CublasLtAlgorithm {
  std::int32_t id = 0;
  std::uint32_t tile = 0;
  std::uint32_t stages = 0;
  std::int32_t splits = 0;
  std::uint32_t reduction_scheme = 0;
  std::uint32_t swizzle = 0;
  std::uint32_t custom_option = 0;
  std::uint16_t inner_shape = 0;
  std::uint16_t cluster_shape = 0;
  std::size_t workspace_bytes = 0;

  bool operator==(const CublasLtAlgorithm&) const = default;
};

// How a plan with one split asks cuBLASLt for its algorithm and calls it, in words that change when that does:
// what of our host code decides which of the library's kernels runs.
std::string plan_rule_text(LinearEpilogue epilogue);

// "id 66, tile 24, stages 35, 1 split, ..."
std::string describe(const CublasLtAlgorithm& algorithm);

class LinearPlan {
 public:
  // On the current device. Throws Refused with a reason in words when cuBLASLt cannot be loaded or has no
  // algorithm for the problem, CublasLtError and CudaError when a call fails.
  explicit LinearPlan(const LinearProblem& problem);
  ~LinearPlan();
  LinearPlan(LinearPlan&&) noexcept;
  LinearPlan& operator=(LinearPlan&&) noexcept;

  const LinearProblem& problem() const { return problem_; }
  const CublasLtAlgorithm& algorithm() const { return algorithm_; }

  // Asynchronously on `stream`, of the device that the plan was made on. All pointers are aligned to 16 bytes;
  // `bias` is not read by LinearEpilogue::none and ::gelu. What the output held before is not read. The plan
  // owns the workspace, so that two runs of one plan must not overlap in time.
  void run(const void* x, const void* weight, const void* bias, void* output, cudaStream_t stream) const;

  // Of a `scaled` problem. `scale_and_zero` are two FP32 numbers in device memory, the second of them 0.
  void run_scaled(const void* x, const void* weight, const float* scale_and_zero, void* output,
                  cudaStream_t stream) const;
  void run_scaled(const Nvfp4Operand& x, const Nvfp4Operand& weight, const float* scale_and_zero, void* output,
                  cudaStream_t stream) const;

 private:
  struct Descriptors;

  void multiply(const void* x, const void* weight, const float* alpha, const float* beta, void* output,
                cudaStream_t stream) const;

  LinearProblem problem_;
  CublasLtAlgorithm algorithm_;
  std::unique_ptr<Descriptors> descriptors_;
};

}  // namespace bitproof::kernels::cuda
