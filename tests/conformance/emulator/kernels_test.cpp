// The project's kernels as compiled for every architecture, emulated.
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/emulator/emulated_kernels.h"
#include "conformance/emulator/emulated_plan.h"
#include "conformance/emulator/fault.h"
#include "conformance/emulator/listings.h"
#include "conformance/machine_code/keys.h"
#include "conformance/report/combine.h"
#include "conformance/report/report.h"
#include "kernels/architecture.h"
#include "reference/profile.h"
#include "tests/conformance/elementwise_samples.h"

namespace bitproof::conformance {
namespace {

constexpr std::uint64_t kSeed = 1;

Record run_all_blocks(const PlannedCheck& planned) {
  const std::unique_ptr<Check> check = planned.start();
  Record sum = check->plan();
  for (std::uint64_t block = 0; block < sum.blocks_total; ++block) sum = *combine(sum, check->run_block(block));
  return decided(sum, {0, sum.blocks_total});
}

std::vector<PlannedCheck> planned(std::string_view domain, std::string_view architecture = "") {
  std::vector<PlannedCheck> chosen;
  for (PlannedCheck& check : plan_emulated(reference::kPytorch211Cuda, kSeed))
    if (check.record.domain == domain && (architecture.empty() || check.record.architecture == architecture))
      chosen.push_back(std::move(check));
  return chosen;
}

TEST(EmulatedKernels, GiveTheReferencesBitsOfAllValuesOnEveryArchitecture) {
  const std::vector<PlannedCheck> checks = planned("values");
  EXPECT_EQ(checks.size(), kernels::kArchitectures.size() * 2 * 2 * 3);
  for (const PlannedCheck& check : checks) {
    ASSERT_TRUE(check.start) << label(check.record) << ": " << check.unavailable;
    const Record record = run_all_blocks(check);
    EXPECT_EQ(record.verdict, Verdict::bit_exact) << label(record) << ": " << record.reason;
    EXPECT_EQ(record.tested, 65536u);
    EXPECT_EQ(record.evidence, "emulated");
    EXPECT_FALSE(record.machine_code_key.empty());
  }
}

TEST(EmulatedKernels, ServeAndRefuseLayoutsAsTheirPredicateSays) {
  for (const PlannedCheck& check : planned("layout", "sm_120")) {
    if (check.record.op != "bias_gelu_tanh" || check.record.dtype != "bf16") continue;
    if (check.record.implementation != "emulated.fused") continue;
    const Record record = run_all_blocks(check);
    EXPECT_EQ(record.verdict, Verdict::bit_exact) << label(record) << ": " << record.reason;
  }
}

// The committed evidence of the card: the same machine code on the same inputs.
TEST(EmulatedKernels, GiveTheDigestsOfTheCardOnSm90) {
  const Result<Report> executed = parse_report(BITPROOF_FIXTURES "/evidence/sm_90");
  ASSERT_TRUE(executed) << executed.error().message();
  std::size_t compared = 0;
  for (const std::string_view domain : {"values", "boundary"})
    for (const PlannedCheck& check : planned(domain, "sm_90")) {
      const Record emulated = run_all_blocks(check);
      for (const Record& record : executed->records) {
        const bool same =
            record.op == emulated.op && record.dtype == emulated.dtype && record.domain == domain &&
            record.implementation == "cuda" + emulated.implementation.substr(sizeof "emulated" - 1);
        if (!same) continue;
        ++compared;
        EXPECT_EQ(emulated.machine_code_key, record.machine_code_key) << label(record);
        EXPECT_EQ(emulated.seed, record.seed);
        EXPECT_EQ(emulated.digest, record.digest) << label(record);
      }
    }
  EXPECT_EQ(compared, 2u * 2 * 2 * 3);
}

TEST(EmulatedKernels, HaveTheMachineCodeKeyOfWhatTheyEmulate) {
  EXPECT_EQ(machine_code_key("emulated.fused", "sm_80"), machine_code_key("cuda.fused", "sm_80"));
  EXPECT_EQ(machine_code_key("emulated.nothing", "sm_80"), std::nullopt);
}

TEST(EmulatedKernels, AMissingListingIsNotRunWithTheRemedy) {
  EXPECT_EQ(emulator::listing_unavailable("cuda.fused", "sm_90"), "");
  EXPECT_NE(
      emulator::listing_unavailable("cuda.fused", "sm_75").find("no machine code of cuda.fused for sm_75"),
      std::string::npos);
  EXPECT_THROW(emulator::find_listing("cuda.fused", "sm_75"), emulator::Unsupported);
}

// A listing in which the loads read 256 MiB too far: a finding, a mismatch, with the instruction.
TEST(EmulatedKernels, AFaultOfTheCodeIsAMismatchWithTheInstruction) {
  emulator::Listing listing = *emulator::find_listing("cuda.fused", "sm_80");
  for (emulator::Section& section : listing.sections)
    for (emulator::Line& line : section.lines)
      if (line.mnemonic == "LDG.E.128") {
        std::string& address = line.operands.back();
        address.insert(address.size() - 1, "+0x10000000");
        line.text += " (planted)";
      }
  const auto kernels = std::make_shared<emulator::EmulatedKernels>(emulator::KernelFamily::fused, listing,
                                                                   reference::Dtype::bf16, true);
  const ElementwiseImplementation implementation{
      .name = "emulated.fused",
      .location = Location::host,
      .vector_elements = 8,
      .can_use = [kernels](const Tensors& tensors) { return kernels->can_use(tensors); },
      .run = [kernels](const Tensors& tensors, CUstream_st*) { kernels->run(tensors); }};
  const Record record = testing::run_all(testing::subject(
      testing::kBiased, reference::Dtype::bf16, implementation,
      *make_domain("values", testing::kBiased, reference::Dtype::bf16, Location::host, kSeed)));
  EXPECT_EQ(record.verdict, Verdict::mismatch) << record.reason;
  EXPECT_EQ(record.kinds.out_of_bounds, 1u);
  ASSERT_TRUE(record.first);
  EXPECT_NE(record.first->parts_at.find("read of 16 bytes out of bounds at"), std::string::npos)
      << record.first->parts_at;
  EXPECT_NE(record.first->parts_at.find("(planted)\" at 0x"), std::string::npos) << record.first->parts_at;
  ASSERT_TRUE(record.first->smallest);
  EXPECT_EQ(record.first->smallest->element, "1x8,0,0,x=0x0000,bias=0x0000");
}

}  // namespace
}  // namespace bitproof::conformance
