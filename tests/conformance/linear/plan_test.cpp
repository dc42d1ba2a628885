// Which checks of linear + GELU there are, and what their machine-code keys depend on.
#include "conformance/linear/plan.h"

#include <algorithm>
#include <set>
#include <string>

#include <gtest/gtest.h>

#include "conformance/linear/device.h"
#include "conformance/machine_code/keys.h"
#include "conformance/report/combine.h"
#include "reference/linear/gelu_epilogue.h"

namespace bitproof::conformance {
namespace {

const std::vector<CudaDevice> kOneDevice{{0, {"NVIDIA H200", "sm_90", "580.65.06", "13.0", "13.1.0"}}};

std::vector<PlannedCheck> plan(const std::vector<CudaDevice>& devices) {
  return plan_linear(reference::kPytorch211Cuda, 1, devices);
}

TEST(LinearPlan, HoldsTheEpilogueToItsPredictionAndComparesItWithEager) {
  std::set<std::string> own, eager;
  for (const PlannedCheck& check : plan({})) {
    if (check.record.implementation != "cuda.cublaslt" || check.record.dtype != "bf16") continue;
    (check.record.profile == reference::kGeluEpilogueProfile ? own : eager).insert(check.record.domain);
    EXPECT_EQ(check.record.equality, "bitwise");
  }
  EXPECT_EQ(own, (std::set<std::string>{"values", "boundary", "random", "layout", "production"}));
  EXPECT_EQ(eager, (std::set<std::string>{"values", "random", "production"}));
}

TEST(LinearPlan, ChecksOfOneDomainFollowOneAnother) {
  // They share its predictions, which are kept for one domain at a time.
  std::set<std::string> left;
  std::string current;
  for (const PlannedCheck& check : plan(kOneDevice)) {
    const std::string domain = check.record.dtype + check.record.domain + check.record.device;
    if (domain == current) continue;
    EXPECT_TRUE(left.insert(domain).second) << domain;
    current = domain;
  }
}

TEST(LinearPlan, SaysWhyWithoutCublasLtNothingRunsOnAGpu) {
  std::vector<CudaDevice> without = kOneDevice;
  without[0].facts.cublaslt = "";
  for (const PlannedCheck& check : plan(without)) {
    if (check.record.device == "cpu") continue;
    EXPECT_FALSE(check.start) << label(check.record);
    EXPECT_EQ(check.unavailable, linear_library().reason);
    EXPECT_EQ(check.record.library_version, "");
    EXPECT_EQ(check.record.machine_code_key, "");
  }
  for (const PlannedCheck& check : plan(kOneDevice)) {
    EXPECT_TRUE(check.start) << label(check.record);
    EXPECT_EQ(check.unavailable, "");
    EXPECT_EQ(check.record.library_version, check.record.device == "cpu" ? "" : "13.1.0");
  }
}

TEST(LinearPlan, WithoutADeviceTheLibraryIsNotAskedFor) {
  for (const PlannedCheck& check : plan({})) EXPECT_EQ(check.record.library_version, "");
}

TEST(LinearExpectedDigest, IsTheOneThatARunHas) {
  for (const PlannedCheck& planned : plan({})) {
    const Record& record = planned.record;
    if (record.device != "cpu" || (record.domain != "values" && record.domain != "boundary")) continue;
    const auto check = planned.start();
    Record sum = check->plan();
    for (std::uint64_t block = 0; block < sum.blocks_total; ++block)
      sum = *combine(sum, check->run_block(block));
    EXPECT_EQ(expected_digest_of_linear(record.dtype, record.profile, record.domain, record.seed),
              sum.expected_digest)
        << label(record);
  }
  const auto of = [](const char* profile) { return expected_digest_of_linear("bf16", profile, "values", 1); };
  EXPECT_NE(of("pytorch-2.11-cuda"), of("cublaslt-13-gelu-epilogue"));
  EXPECT_FALSE(of("no profile"));
  EXPECT_FALSE(expected_digest_of_linear("bf16", "pytorch-2.11-cuda", "random", 1)) << "differs by machine";
  EXPECT_FALSE(expected_digest_of_linear("fp32", "pytorch-2.11-cuda", "values", 1));
}

std::optional<std::string> key(const char* implementation, const char* architecture = "sm_90",
                               const char* version = "13.1.0") {
  return linear_machine_code_key(implementation, architecture, version);
}

TEST(LinearMachineCodeKey, OfTheHostIsItsCode) {
  EXPECT_TRUE(key("host.eager", "x86_64"));
  EXPECT_EQ(key("host.eager", "x86_64", ""), key("host.eager", "x86_64")) << "no library is in it";
  EXPECT_NE(key("host.eager", "x86_64"), machine_code_key("host.fused", "x86_64"));
}

TEST(LinearMachineCodeKey, DependsOnTheLibrarysVersionAndOnOurCode) {
  if (!linear_plan_rule(kernels::LinearGeluPath::eager)) {
    EXPECT_FALSE(key("cuda.eager")) << "a build without cuBLASLt has no key to compare with";
    return;
  }
  for (const char* implementation : {"cuda.eager", "cuda.cublaslt"}) {
    ASSERT_TRUE(key(implementation));
    EXPECT_EQ(key(implementation)->size(), 64u);
    EXPECT_NE(key(implementation), key(implementation, "sm_90", "13.2.0"));
    EXPECT_FALSE(key(implementation, "sm_90", "")) << "what ran is unknown";
    EXPECT_FALSE(key(implementation, "sm_999"));
  }
  EXPECT_NE(key("cuda.eager"), key("cuda.cublaslt"));
  // The GELU kernel after the GEMM is our own code, which differs from architecture to architecture.
  EXPECT_NE(key("cuda.eager", "sm_90"), key("cuda.eager", "sm_80"));
  EXPECT_FALSE(key("cuda.fused"));
}

}  // namespace
}  // namespace bitproof::conformance
