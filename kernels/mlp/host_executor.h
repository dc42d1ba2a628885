// The steps on the CPU. The GEMM's accumulators come from whoever makes the executor, since the bits of a GEMM
// are those of the library that it stands in for; all else is this project's code: epilogues, NVFP4, GELU.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/mlp/executor.h"

namespace bitproof::kernels {

// The FP32 sums x [rows, depth] * weight [columns, depth] transposed, [rows, columns].
using HostGemm = std::function<std::vector<float>(const Matrix& x, const Matrix& weight)>;

class HostExecutor : public Executor {
 public:
  HostExecutor(HostGemm gemm, std::shared_ptr<FirstSight> sights);

  int compute_capability() const override { return 0; }
  bool is_capturing() const override { return false; }
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

  // The static part of the epilogue's guard for this executor.
  static Applicability can_fuse_linear_gelu(const LinearLayer& layer);

 private:
  HostGemm gemm_;
  std::array<std::vector<std::uint16_t>, 2> scratch_;
};

}  // namespace bitproof::kernels
