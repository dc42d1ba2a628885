#include <gtest/gtest.h>

#include "conformance/report/combine.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using testing::kBlocks;
using testing::kBlockSize;
using testing::perfect_record;
using testing::planned_record;

constexpr BlockRange kWhole{0, kBlocks};

Verdict verdict_of(const Record& record, const BlockRange& share = kWhole) {
  return decide_verdict(record, share).verdict;
}

Record with_mismatches(std::uint64_t KindCounts::*kind, std::uint64_t max_ulp, const char* equality) {
  Record record = perfect_record("gelu_tanh");
  record.equality = equality;
  record.mismatches = record.kinds.*kind = 3;
  record.max_ulp = max_ulp;
  record.digest += 1;
  return record;
}

TEST(Verdict, NamesRoundTrip) {
  for (const Verdict verdict : {Verdict::bit_exact, Verdict::within_contract, Verdict::known_mismatch,
                                Verdict::mismatch, Verdict::refused, Verdict::not_run, Verdict::error})
    EXPECT_EQ(parse_verdict(name(verdict)), verdict);
  EXPECT_EQ(parse_verdict("passed"), std::nullopt);
}

TEST(Verdict, IsBitExactWhenEverythingWasTestedAndNothingDiffers) {
  EXPECT_EQ(verdict_of(perfect_record("gelu_tanh")), Verdict::bit_exact);
}

TEST(Verdict, NothingTestedIsNeverAPass) {
  Record record = planned_record("gelu_tanh");
  EXPECT_EQ(verdict_of(record), Verdict::not_run);
  // Not even when the domain has no blocks at all, or the record calls itself bit_exact, or all blocks are
  // ticked off.
  record.verdict = Verdict::bit_exact;
  record.total = record.blocks_total = 0;
  EXPECT_EQ(verdict_of(record, {0, 0}), Verdict::not_run);
  record = planned_record("gelu_tanh");
  record.blocks = {kWhole};
  EXPECT_EQ(verdict_of(record), Verdict::not_run);
}

TEST(Verdict, KeepsTheReasonWhyNothingRan) {
  Record record = planned_record("gelu_tanh");
  record.reason = "no CUDA device";
  EXPECT_EQ(decide_verdict(record, kWhole), (Decision{Verdict::not_run, "no CUDA device"}));
}

TEST(Verdict, PartialCoverageIsNotRunAndSaysHowFarItCame) {
  Record record = perfect_record("gelu_tanh");
  record.blocks = {{0, 10}, {11, kBlocks}};
  record.tested -= kBlockSize;
  EXPECT_EQ(decide_verdict(record, kWhole),
            (Decision{Verdict::not_run, "the run ended after 63 of 64 blocks"}));
}

TEST(Verdict, AShardNeedsItsOwnShareOnly) {
  Record record = perfect_record("gelu_tanh");
  record.blocks = {{16, 32}};
  record.tested = 16 * kBlockSize;
  EXPECT_EQ(verdict_of(record, {16, 32}), Verdict::bit_exact);
  EXPECT_EQ(verdict_of(record, {16, 33}), Verdict::not_run);
  EXPECT_EQ(verdict_of(record), Verdict::not_run);
}

TEST(Verdict, AMismatchOutranksMissingCoverage) {
  Record record = with_mismatches(&KindCounts::value, 1, "bitwise");
  record.blocks = {{0, 1}};
  EXPECT_EQ(verdict_of(record), Verdict::mismatch);
}

TEST(Verdict, EveryKindIsAMismatchUnderBitwise) {
  for (const KindField& field : kKindFields)
    EXPECT_EQ(verdict_of(with_mismatches(field.count, 0, "bitwise")), Verdict::mismatch);
}

TEST(Verdict, AnUlpContractAdmitsSmallDifferencesOfValuesOnly) {
  EXPECT_EQ(verdict_of(with_mismatches(&KindCounts::value, 2, "ulp<=2")), Verdict::within_contract);
  EXPECT_EQ(verdict_of(with_mismatches(&KindCounts::value, 3, "ulp<=2")), Verdict::mismatch);
  EXPECT_EQ(verdict_of(with_mismatches(&KindCounts::zero_sign, 0, "ulp<=2")), Verdict::within_contract);
  EXPECT_EQ(verdict_of(with_mismatches(&KindCounts::unwritten, 0, "ulp<=2")), Verdict::mismatch);
  EXPECT_EQ(verdict_of(with_mismatches(&KindCounts::out_of_bounds, 0, "ulp<=2")), Verdict::mismatch);
  EXPECT_EQ(verdict_of(with_mismatches(&KindCounts::value, 1, "ulp<=0")), Verdict::mismatch);
}

TEST(Verdict, AnUlpContractWithoutDifferencesIsBitExact) {
  Record record = perfect_record("gelu_tanh");
  record.equality = "ulp<=2";
  EXPECT_EQ(verdict_of(record), Verdict::bit_exact);
}

TEST(Verdict, AHarnessThatContradictsItselfIsAnError) {
  Record digests = perfect_record("gelu_tanh");
  digests.digest += 1;
  EXPECT_EQ(verdict_of(digests), Verdict::error);
  Record count = perfect_record("gelu_tanh");
  count.tested -= 1;
  EXPECT_EQ(verdict_of(count), Verdict::error);
  for (const char* equality : {"", "exact", "ulp<=", "ulp<=x", "atol=1"}) {
    Record record = perfect_record("gelu_tanh");
    record.equality = equality;
    EXPECT_EQ(verdict_of(record), Verdict::error) << equality;
  }
}

TEST(Verdict, RefusedAndErrorStay) {
  Record record = perfect_record("gelu_tanh");
  record.verdict = Verdict::refused;
  record.reason = "width not positive";
  EXPECT_EQ(decide_verdict(record, kWhole), (Decision{Verdict::refused, "width not positive"}));
}

TEST(IsFinished, NeedsEveryBlockAndAVerdict) {
  Record record = perfect_record("gelu_tanh");
  EXPECT_TRUE(is_finished(record, kWhole));
  record.verdict = Verdict::mismatch;
  EXPECT_TRUE(is_finished(record, kWhole));
  record.blocks = {{0, 63}};
  EXPECT_FALSE(is_finished(record, kWhole));
  EXPECT_TRUE(is_finished(record, {0, 10}));
  EXPECT_FALSE(is_finished(planned_record("gelu_tanh"), {0, 0}));
}

}  // namespace
}  // namespace bitproof::conformance
