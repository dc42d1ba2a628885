// The checks of mlp_gelu: what is planned, that the right code passes, and that faults are found.
#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/mlp/check.h"
#include "conformance/mlp/plan.h"
#include "conformance/mlp/under_test.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

using kernels::HostExecutor;
using reference::Dtype;

// --- The plan
// --------------------------------------------------------------------------------------------------

CudaDevice device(const std::string& architecture) {
  return {0, {"a card", architecture, "580.65.06", "13.0", "13.1.1"}};
}

std::vector<PlannedCheck> plan_on(const std::vector<CudaDevice>& devices) {
  return plan_mlp(reference::kPytorch211Cuda, 1, devices);
}

std::set<std::string> names(const std::vector<PlannedCheck>& plan, const std::string& device) {
  std::set<std::string> result;
  for (const PlannedCheck& check : plan)
    if (check.record.device == device) result.insert(check.record.implementation + " " + check.record.domain);
  return result;
}

TEST(MlpPlan, HasThreeConfigurationsOnTheCpu) {
  EXPECT_EQ(names(plan_on({}), "cpu"),
            (std::set<std::string>{"host.high_epilogue mounting", "host.high_epilogue small",
                                   "host.high_nvfp4 mounting", "host.high_nvfp4 small",
                                   "host.lossless mounting", "host.lossless small"}));
}

TEST(MlpPlan, HasTheProductionShapeOnAGpu) {
  const std::set<std::string> of_gpu = names(plan_on({device("sm_90")}), "cuda:0");
  EXPECT_EQ(of_gpu,
            (std::set<std::string>{
                "cuda.high_epilogue mounting", "cuda.high_epilogue production", "cuda.high_epilogue small",
                "cuda.high_nvfp4 mounting", "cuda.high_nvfp4 production", "cuda.high_nvfp4 small",
                "cuda.lossless mounting", "cuda.lossless production", "cuda.lossless small"}));
  for (const PlannedCheck& check : plan_on({device("sm_90")}))
    EXPECT_EQ(check.record.library_version, check.record.device == "cpu"      ? "reference GEMM"
                                            : check.record.device == "cuda:0" ? "13.1.1"
                                                                              : "");
}

TEST(MlpPlan, TheNativeNvfp4GemmIsNotRunWithoutItsArchitecture) {
  std::size_t not_here = 0;
  for (const PlannedCheck& check : plan_on({device("sm_90")}))
    if (check.record.implementation == "cuda.high_nvfp4_native") {
      EXPECT_FALSE(check.start);
      EXPECT_EQ(check.record.device, "sm_100");
      EXPECT_EQ(check.unavailable, "no device of compute capability 10.0 or later is here");
      ++not_here;
    }
  EXPECT_EQ(not_here, 2u);
  for (const char* const architecture : {"sm_100", "sm_103", "sm_120"})
    EXPECT_TRUE(names(plan_on({device(architecture)}), "cuda:0").contains("cuda.high_nvfp4_native mounting"))
        << architecture;
}

TEST(MlpPlan, NothingOnAGpuIsRunWithoutCublasLt) {
  CudaDevice without = device("sm_90");
  without.facts.cublaslt.clear();
  for (const PlannedCheck& check : plan_on({without}))
    EXPECT_EQ(static_cast<bool>(check.start), check.record.device == "cpu") << label(check.record);
}

TEST(MlpPlan, RecordsSayWhoseBitsAreRight) {
  for (const PlannedCheck& check : plan_on({})) {
    const Record& record = check.record;
    const std::string expected =
        record.domain == "mounting"                                   ? "unmounted-mlp"
        : record.implementation.find("nvfp4") != std::string::npos    ? "nvfp4-1+pytorch-2.11-cuda"
        : record.implementation.find("epilogue") != std::string::npos ? "cublaslt-13-gelu-epilogue"
                                                                      : "pytorch-2.11-cuda";
    EXPECT_EQ(record.profile, expected) << label(record);
    EXPECT_TRUE(record.sampled);
  }
}

// --- The checks
// ------------------------------------------------------------------------------------------------

Record run_all_blocks(Check& check) {
  Record sum = check.plan();
  for (std::uint64_t block = 0; block < sum.blocks_total; ++block) {
    const Result<Record> next = combine(sum, check.run_block(block));
    EXPECT_TRUE(next);
    sum = *next;
  }
  return decided(sum, {0, sum.blocks_total});
}

TEST(MlpCheck, TheHostImplementationsAreBitExactAndTheEpilogueDiffersFromEager) {
  std::size_t checks = 0;
  for (const PlannedCheck& planned : plan_on({})) {
    if (!planned.start) continue;
    ++checks;
    const Record record = run_all_blocks(*planned.start());
    const bool differs = record.implementation == "host.high_epilogue" && record.domain == "mounting";
    EXPECT_EQ(record.verdict, differs ? Verdict::mismatch : Verdict::bit_exact)
        << label(record) << record.reason;
    EXPECT_EQ(record.tested, record.total);
    EXPECT_EQ(record.mismatches > 0, differs) << label(record);
    if (differs) {
      EXPECT_LT(record.mismatches, record.total);
      ASSERT_TRUE(record.first);
      EXPECT_TRUE(record.first->layout.starts_with("high, mounted")) << record.first->layout;
    }
  }
  EXPECT_EQ(checks, 12u);
}

// Executors that are wrong in one way.
class LosesTheBias final : public HostExecutor {
 public:
  using HostExecutor::HostExecutor;
  void add_bias(const DLTensor&, const DLTensor&) override {}
};

class AddsTheBiasTwice final : public HostExecutor {
 public:
  using HostExecutor::HostExecutor;
  void bias_gelu(const DLTensor& input, const DLTensor& bias, const DLTensor& output) override {
    add_bias(input, bias);
    HostExecutor::bias_gelu(input, bias, output);
  }
};

// Of the last layer's output, one element: in the last row or the first.
template <bool kLast>
class LeavesAnElement final : public HostExecutor {
 public:
  using HostExecutor::HostExecutor;
  void linear(const kernels::LinearLayer& layer, const DLTensor& x, const DLTensor& output) override {
    std::uint16_t& element = kernels::data_of(output)[kLast ? kernels::element_count(output) - 1 : 0];
    const std::uint16_t before = element;
    HostExecutor::linear(layer, x, output);
    element = before;
  }
};

class OverwritesTheGuard final : public HostExecutor {
 public:
  using HostExecutor::HostExecutor;
  void linear(const kernels::LinearLayer& layer, const DLTensor& x, const DLTensor& output) override {
    HostExecutor::linear(layer, x, output);
    kernels::data_of(output)[kernels::element_count(output)] = 0;
  }
};

// The CPU with another executor.
template <class Faulty>
class FaultyPlace final : public MlpPlace {
 public:
  std::unique_ptr<kernels::Executor> new_executor(kernels::Log log) override {
    return std::make_unique<Faulty>(reference_gemm(), std::make_shared<kernels::FirstSight>(std::move(log)));
  }
  kernels::LinearGeluGuard guard() const override { return right_->guard(); }
  kernels::Matrix upload(std::span<const std::uint16_t> bits, std::uint64_t rows, std::uint64_t width,
                         Dtype dtype) override {
    return right_->upload(bits, rows, width, dtype);
  }
  kernels::Matrix poisoned_output(std::uint64_t rows, std::uint64_t width, Dtype dtype) override {
    return right_->poisoned_output(rows, width, dtype);
  }
  MlpOutput fetch_output() override { return right_->fetch_output(); }

 private:
  std::unique_ptr<MlpPlace> right_ = make_host_place();
};

template <class Faulty>
std::unique_ptr<Check> check_with(MlpConfiguration configuration) {
  MlpSubject subject{.configuration = configuration,
                     .dtype = Dtype::bf16,
                     .profile = reference::kPytorch211Cuda,
                     .shape = {.rows = 3, .depth = 32, .hidden = 64, .columns = 16},
                     .rows_tested = 2,
                     .place = [] { return std::make_unique<FaultyPlace<Faulty>>(); },
                     .identity = {}};
  subject.identity.equality = "bitwise";
  subject.identity.seed = 1;
  subject.identity.blocks_total = tested_states(subject).size();
  subject.identity.total = subject.identity.blocks_total * 2 * 16;
  return make_mlp_check(subject);
}

TEST(MlpCheck, ALostBiasIsFound) {
  const std::unique_ptr<Check> check = check_with<LosesTheBias>(MlpConfiguration::high_nvfp4);
  EXPECT_GT(check->run_block(0).kinds.value, 0u);
  EXPECT_THROW((void)check->run_block(1), std::runtime_error)
      << "the fused kernel, which has it, is not trusted";
}

TEST(MlpCheck, ABiasAddedTwiceByTheFusedKernelIsFoundAtFirstSight) {
  const std::unique_ptr<Check> check = check_with<AddsTheBiasTwice>(MlpConfiguration::high_nvfp4);
  EXPECT_EQ(check->run_block(0).mismatches, 0u) << "eager is right";
  EXPECT_THROW((void)check->run_block(1), std::runtime_error);
}

TEST(MlpCheck, AnUnwrittenElementIsFoundInTheTestedRowsAndOutsideThem) {
  // Rows 0 and 1 of 3 are tested. The first layer is linear too: its hidden element is scratch memory's.
  EXPECT_GE(check_with<LeavesAnElement<false>>(MlpConfiguration::lossless)->run_block(0).kinds.unwritten, 1u);
  EXPECT_EQ(check_with<LeavesAnElement<true>>(MlpConfiguration::lossless)->run_block(0).kinds.unwritten, 1u);
}

TEST(MlpCheck, AWritePastTheEndIsFound) {
  EXPECT_EQ(check_with<OverwritesTheGuard>(MlpConfiguration::lossless)->run_block(0).kinds.out_of_bounds, 1u);
}

TEST(MlpCheck, StatesHaveDigestsOfTheirOwn) {
  const std::unique_ptr<Check> check = check_with<HostExecutor>(MlpConfiguration::lossless);
  const Record before = check->run_block(0), after = check->run_block(2);
  EXPECT_EQ(before.digest, before.expected_digest);
  EXPECT_NE(before.digest, after.digest);
}

}  // namespace
}  // namespace bitproof::conformance
