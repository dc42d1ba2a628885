// Faults that exist on one architecture only, planted in code compiled for several.
#include <fstream>
#include <iterator>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "conformance/emulator/audit.h"
#include "conformance/emulator/emulated_kernels.h"
#include "conformance/emulator/listings.h"
#include "tests/conformance/elementwise_samples.h"

namespace bitproof::conformance {
namespace {

using emulator::KernelFamily;
using emulator::Listing;
using reference::Dtype;

Listing planted(const std::string& name) {
  std::ifstream stream(BITPROOF_TEST_LISTINGS "/" + name + ".sass");
  return emulator::parse_listing(std::string{std::istreambuf_iterator<char>(stream), {}});
}

Record run(KernelFamily family, const Listing& listing, const ElementwiseOperator& op, Dtype dtype,
           std::string_view domain) {
  const auto kernels = std::make_shared<emulator::EmulatedKernels>(family, listing, dtype, op.has_bias);
  const ElementwiseImplementation implementation{
      .name = "emulated.planted",
      .location = Location::host,
      .vector_elements = 8,
      .can_use = [kernels](const Tensors& tensors) { return kernels->can_use(tensors); },
      .run = [kernels](const Tensors& tensors, CUstream_st*) { kernels->run(tensors); }};
  return testing::run_all(
      testing::subject(op, dtype, implementation, *make_domain(domain, op, dtype, Location::host, 1)));
}

const emulator::Section& biased_bf16(const Listing& listing) {
  return emulator::find_section(listing, {"gelu_tanh_baseline", "HalfTypeE0E", "ELb1E"});
}

TEST(PlantedFault, FastMathForOneArchitectureIsCaughtThere) {
  // tanhf becomes tanh.approx, which changes 60 bf16 and 645 fp16 outputs (measured on an H200).
  const Record bf16 =
      run(KernelFamily::eager, planted("fast_math.sm_86"), testing::kUnary, Dtype::bf16, "values");
  EXPECT_EQ(bf16.verdict, Verdict::mismatch) << bf16.reason;
  const Record fp16 =
      run(KernelFamily::eager, planted("fast_math.sm_86"), testing::kUnary, Dtype::fp16, "values");
  EXPECT_EQ(fp16.verdict, Verdict::mismatch) << fp16.reason;
  EXPECT_EQ(run(KernelFamily::eager, *emulator::find_listing("cuda.eager", "sm_86"), testing::kUnary,
                Dtype::fp16, "values")
                .verdict,
            Verdict::bit_exact);
}

TEST(PlantedFault, TanhApproxFromSm100OnIsCaughtThere) {
  // The same counts: the code differs from eager's in nothing but the tanh.
  const Record bf16 =
      run(KernelFamily::baseline, planted("planted_tanh.sm_100"), testing::kBiased, Dtype::bf16, "values");
  EXPECT_EQ(bf16.mismatches, 60u);
  const Record fp16 =
      run(KernelFamily::baseline, planted("planted_tanh.sm_100"), testing::kBiased, Dtype::fp16, "values");
  EXPECT_EQ(fp16.mismatches, 645u);
  const Record before =
      run(KernelFamily::baseline, planted("planted_tanh.sm_90"), testing::kBiased, Dtype::fp16, "values");
  EXPECT_EQ(before.verdict, Verdict::bit_exact) << before.reason;
}

TEST(PlantedFault, ASkippedRoundingOnSm120IsCaughtThere) {
  const Record wrong = run(KernelFamily::baseline, planted("planted_rounding.sm_120"), testing::kBiased,
                           Dtype::bf16, "boundary");
  EXPECT_EQ(wrong.verdict, Verdict::mismatch) << wrong.reason;
  ASSERT_TRUE(wrong.first);
  EXPECT_EQ(wrong.first->parts_at, "rounded sum: as if the sum were not rounded to the dtype");
  const Record right = run(KernelFamily::baseline, planted("planted_rounding.sm_100"), testing::kBiased,
                           Dtype::bf16, "boundary");
  EXPECT_EQ(right.verdict, Verdict::bit_exact) << right.reason;
}

TEST(PlantedFault, TheAuditSeesEachWithoutRunningIt) {
  using emulator::SumRounding;
  EXPECT_EQ(emulator::audit(biased_bf16(planted("planted_rounding.sm_120"))).sum, SumRounding::missing);
  EXPECT_EQ(emulator::audit(biased_bf16(planted("planted_rounding.sm_100"))).sum, SumRounding::converted);
  EXPECT_TRUE(emulator::audit(biased_bf16(planted("planted_tanh.sm_100"))).unit_functions.contains("TANH"));
  EXPECT_FALSE(emulator::audit(biased_bf16(planted("planted_tanh.sm_90"))).unit_functions.contains("TANH"));
  bool agreed = true;
  for (const emulator::AuditedKernel& kernel :
       emulator::audit_listing("cuda.eager", planted("fast_math.sm_86")))
    agreed &= kernel.mismatches.empty();
  EXPECT_FALSE(agreed);
}

}  // namespace
}  // namespace bitproof::conformance
