// Which checks somebody else's kernel gets.
#include "conformance/foreign/foreign_check.h"

#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

ForeignRequest request_for(const std::string& op, const std::string& domains) {
  ForeignRequestText text;
  text.op = op;
  text.dtype = "fp16";
  text.domains = domains;
  return *parse_foreign_request(text, "");
}

ForeignKernel kernel_at(Location location, bool returns_output) {
  ForeignKernel kernel;
  kernel.name = "kernel";
  kernel.location = location;
  kernel.returns_output = returns_output;
  kernel.load = [] { return host_implementations().front(); };
  return kernel;
}

const CudaDevice kDevice{0, {"NVIDIA H200", "sm_90", "580.65.06", "13.0", "13.1.1"}};

TEST(ForeignPlan, HasARecordForEachDomainInTheOrderAskedFor) {
  const auto plan =
      plan_foreign(request_for("bias_gelu_tanh", "pairs,values"), kernel_at(Location::device, false), kDevice);
  ASSERT_EQ(plan.size(), 2u);
  EXPECT_EQ(label(plan[0].record), "bias_gelu_tanh fp16 kernel pairs sm_90");
  EXPECT_EQ(label(plan[1].record), "bias_gelu_tanh fp16 kernel values sm_90");
  EXPECT_EQ(plan[0].record.device, "cuda:0");
  EXPECT_EQ(plan[0].record.verdict, Verdict::not_run);
}

TEST(ForeignPlan, WithoutItsDeviceSaysWhyNothingRuns) {
  ForeignKernel kernel = kernel_at(Location::device, false);
  kernel.load = {};
  kernel.unavailable = "no CUDA device: for the test";
  const auto plan = plan_foreign(request_for("silu", "values"), kernel, std::nullopt);
  ASSERT_EQ(plan.size(), 1u);
  EXPECT_FALSE(plan[0].start);
  EXPECT_EQ(plan[0].unavailable, "no CUDA device: for the test");
  EXPECT_EQ(plan[0].record.device, "cuda");
}

// Digests of expected outputs are remembered by the size of the domain (conformance/known_digests.h), so that
// layouts of another selection of cases must have another size.
TEST(ForeignPlan, LayoutsOfDifferentCasesDifferInSize) {
  for (const std::string op : {"bias_gelu_tanh", "gelu_tanh"}) {
    std::set<std::uint64_t> sizes;
    for (const Location location : {Location::host, Location::device})
      for (const bool returns_output : {false, true}) {
        const auto device = location == Location::host ? std::nullopt : std::optional(kDevice);
        const auto plan = plan_foreign(request_for(op, "layout"), kernel_at(location, returns_output), device);
        sizes.insert(plan.front().record.total);
      }
    EXPECT_EQ(sizes.size(), 4u) << op;
  }
}

TEST(ForeignPlan, RunsARightKernelToItsVerdict) {
  for (const PlannedCheck& planned : plan_foreign(request_for("gelu_tanh", "values,layout"),
                                                  kernel_at(Location::host, false), std::nullopt)) {
    const Record record = run_here(planned);
    EXPECT_EQ(record.verdict, Verdict::bit_exact) << record.reason;
    EXPECT_EQ(record.tested, record.total);
  }
}

TEST(ForeignPlan, AKernelThatCannotBeLoadedIsAnError) {
  ForeignKernel kernel = kernel_at(Location::host, false);
  kernel.load = []() -> ElementwiseImplementation { throw std::runtime_error("not today"); };
  const Record record = run_here(plan_foreign(request_for("silu", "values"), kernel, std::nullopt).front());
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(record.reason, "not today");
}

TEST(WorstVerdict, IsTheOneThatSpeaksForAll) {
  const auto of = [](std::vector<Verdict> verdicts) {
    std::vector<Record> records(verdicts.size());
    for (std::size_t i = 0; i < verdicts.size(); ++i) records[i].verdict = verdicts[i];
    return worst_verdict(records);
  };
  EXPECT_EQ(of({}), Verdict::not_run);
  EXPECT_EQ(of({Verdict::bit_exact, Verdict::bit_exact}), Verdict::bit_exact);
  EXPECT_EQ(of({Verdict::bit_exact, Verdict::within_contract}), Verdict::within_contract);
  EXPECT_EQ(of({Verdict::not_run, Verdict::bit_exact}), Verdict::not_run);
  EXPECT_EQ(of({Verdict::mismatch, Verdict::refused, Verdict::not_run}), Verdict::mismatch);
  EXPECT_EQ(of({Verdict::mismatch, Verdict::error}), Verdict::error);
}

}  // namespace
}  // namespace bitproof::conformance
