// Small MLPs on the CPU with the bits that the reference gives for each way of running them.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "kernels/fusion/gates.h"
#include "kernels/mlp/host_executor.h"
#include "kernels/mlp/mlp.h"
#include "reference/half.h"
#include "tests/kernels/guarded_tensor.h"

namespace bitproof::kernels::test {

using Bits = std::vector<std::uint16_t>;

// The first layer of an MLP.
enum class FirstLayer { dense, dense_without_bias, nvfp4, nvfp4_without_bias };

constexpr bool is_nvfp4(FirstLayer layer) {
  return layer == FirstLayer::nvfp4 || layer == FirstLayer::nvfp4_without_bias;
}
constexpr bool has_bias(FirstLayer layer) { return layer == FirstLayer::dense || layer == FirstLayer::nvfp4; }

// The GEMM of the reference, without threads.
HostGemm plain_gemm();

inline void drop(const std::string&) {}

inline std::shared_ptr<FirstSight> quiet_sights() { return std::make_shared<FirstSight>(drop); }

// An executor that writes down its steps.
class RecordingExecutor final : public HostExecutor {
 public:
  explicit RecordingExecutor(std::shared_ptr<FirstSight> sights = quiet_sights())
      : HostExecutor(plain_gemm(), std::move(sights)) {}

  bool capturing = false;                // as if a graph were being captured
  bool can_fuse = true;                  // what the fused kernel's predicate says
  std::optional<std::int64_t> wrong_at;  // the element that the fused kernel gets wrong
  std::vector<std::string> steps;

  std::vector<std::string> take_steps() { return std::exchange(steps, {}); }

  bool is_capturing() const override { return capturing; }
  void linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) override;
  void linear_nvfp4(const DLTensor& x, const Nvfp4Weight& weight, const DLTensor& output) override;
  void linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) override;
  void add_bias(const DLTensor& tensor, const DLTensor& bias) override;
  void gelu(const DLTensor& tensor) override;
  Applicability can_use_bias_gelu(const DLTensor& input, const DLTensor& bias,
                                  const DLTensor& output) const override;
  void bias_gelu(const DLTensor& input, const DLTensor& bias, const DLTensor& output) override;
};

// Two rows of 16 through 16 to 8 columns, bf16.
class TestMlp {
 public:
  static constexpr std::int64_t kRows = 2, kDepth = 16, kHidden = 16, kColumns = 8;

  TestMlp(FirstLayer kind, std::string name, std::uint64_t seed);

  Mlp& mlp() { return *mlp_; }
  Linear& first() { return *first_; }
  Linear& second() { return *second_; }
  FirstLayer kind() const { return kind_; }

  Bits run(Quality quality, Executor& executor);

  // What eager gives; with the first layer's bias deferred, which is another rounding for a dense layer.
  const Bits& eager(bool deferred = false) const { return deferred ? eager_deferred_ : eager_; }
  // What the epilogue gives; of a dense layer with bias.
  const Bits& epilogue() const { return epilogue_; }

 private:
  FirstLayer kind_;
  GuardedTensor x_, weight1_, bias1_, weight2_, bias2_;
  std::unique_ptr<Linear> first_, second_;
  std::unique_ptr<Mlp> mlp_;
  Bits eager_, eager_deferred_, epilogue_;
};

// A gate that accepts every site with a first layer, and defers its bias as the real one does if it is in
// charge of that fusion.
class AcceptingGate final : public QualityGate {
 public:
  explicit AcceptingGate(Fusion fusion)
      : QualityGate(fusion, drop), defers_(fusion == Fusion::nvfp4_bias_gelu) {}

 private:
  Applicability can_serve(const FusionSite&) const override { return {}; }
  bool enter(FusionSite& site) const override {
    return defers_ && site.first_linear()->skip_bias_add.exchange(true);
  }
  void leave(FusionSite& site, bool before) const override {
    if (defers_) site.first_linear()->skip_bias_add = before;
  }

  bool defers_;
};

}  // namespace bitproof::kernels::test
