// The steps on a stream of a GPU: GEMMs by cuBLASLt, everything else by this project's kernels.
#pragma once

#include <memory>

#include "kernels/linear_gelu/dispatch_table.h"
#include "kernels/mlp/executor.h"

struct CUstream_st;

namespace bitproof::kernels::cuda {

// When the epilogue is taken, of the calls that its guard allows.
enum class EpilogueUse {
  where_faster,  // as the dispatch table says
  always,
};

// What multiplies NVFP4 operands.
enum class Nvfp4Gemm {
  dequantised,  // the 16-bit GEMM on exact products value * scale: every architecture, predictable bits
  native,       // cuBLASLt's own, where nvfp4/native.h says that the tensor cores have it
};

struct CudaExecutorOptions {
  DispatchTable table{};
  EpilogueUse epilogue = EpilogueUse::where_faster;
  Nvfp4Gemm nvfp4 = Nvfp4Gemm::dequantised;
};

// Yes if the device can run NVFP4 in that way, cuBLASLt aside.
Applicability can_multiply_nvfp4(Nvfp4Gemm how, int compute_capability);

// Plans and scratch memory are made at the first call that needs them, and kept. While a graph is being
// captured, a call that would have to make some throws Refused: run the same shapes once before. Scratch memory
// is the executor's, so that captured graphs must not be replayed after it is gone or has grown.
class CudaExecutor final : public Executor {
 public:
  // On `stream` of device `device_id`. Throws Refused when cuBLASLt cannot be loaded, or can_multiply_nvfp4
  // says no.
  CudaExecutor(int device_id, CUstream_st* stream, std::shared_ptr<FirstSight> sights,
               CudaExecutorOptions options = {});
  ~CudaExecutor() override;

  int compute_capability() const override;
  bool is_capturing() const override;
  Matrix scratch(Scratch purpose, HalfType dtype, std::int64_t rows, std::int64_t width) override;

  void linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) override;
  void linear_nvfp4(const DLTensor& x, const Nvfp4Weight& weight, const DLTensor& output) override;
  Applicability can_use_linear_gelu(const LinearLayer& layer, const DLTensor& x,
                                    const DLTensor& output) const override;
  void linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) override;
  void add_bias(const DLTensor& tensor, const DLTensor& bias) override;
  void gelu(const DLTensor& tensor) override;
  Applicability can_use_bias_gelu(const DLTensor& input, const DLTensor& bias,
                                  const DLTensor& output) const override;
  void bias_gelu(const DLTensor& input, const DLTensor& bias, const DLTensor& output) override;
  void copy(const DLTensor& from, const DLTensor& to) override;
  std::optional<BitDifference> first_difference(const DLTensor& eager, const DLTensor& fused) override;
  Nvfp4Weight quantise_weight(const DLTensor& weight) override;
  Nvfp4Weight load_weight(const Nvfp4Codes& codes, HalfType dtype) override;

  // The static part of the epilogue's guard for this device and table.
  Applicability can_fuse_linear_gelu(const LinearLayer& layer) const;

 private:
  struct State;  // plans, memory and the stream
  std::unique_ptr<State> state_;
};

}  // namespace bitproof::kernels::cuda
