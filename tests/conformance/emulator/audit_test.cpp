// What the audit reads from a listing, on kernels written out here.
#include "conformance/emulator/audit.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bitproof::conformance::emulator {
namespace {

Section section_of(const std::vector<std::string>& instructions) {
  std::string text = "\t.target sm_90\n\t.section\t.text.kernel,\"ax\"\n";
  for (const std::string& instruction : instructions) text += "/*0000*/ " + instruction + " ;\n";
  return parse_listing(text).sections.front();
}

// fp16: loads, `add` of R4 and R8 into R12, a product of R16.
AuditFacts of_sum(std::vector<std::string> add) {
  std::vector<std::string> all{"LDG.E.128 R4, desc[UR4][R2.64]", "LDG.E.128 R8, desc[UR4][R20.64]"};
  all.insert(all.end(), add.begin(), add.end());
  all.push_back("FMUL R17, R16, R16");
  return audit(section_of(all));
}

TEST(Audit, APackedAddRounds) {
  const AuditFacts facts = of_sum({"HADD2 R12, R4, R8", "HADD2.F32 R16, -RZ, R12.H0_H0"});
  EXPECT_EQ(facts.sum, SumRounding::packed_add);
  EXPECT_EQ(facts.between, (std::vector<std::string>{"HADD2", "HADD2.F32"}));
}

TEST(Audit, AnFp32AddNeedsAConversion) {
  const std::vector<std::string> widened{"HADD2.F32 R14, -RZ, R4.H0_H0", "HADD2.F32 R15, -RZ, R8.H0_H0",
                                         "FADD R16, R14, R15"};
  EXPECT_EQ(of_sum(widened).sum, SumRounding::missing);
  std::vector<std::string> rounded = widened;
  rounded.insert(rounded.end(), {"F2FP.F16.F32.PACK_AB R12, RZ, R16", "HADD2.F32 R16, -RZ, R12.H0_H0"});
  EXPECT_EQ(of_sum(rounded).sum, SumRounding::converted);
  EXPECT_EQ(of_sum(rounded).between, (std::vector<std::string>{"FADD", "F2FP.F16.F32.PACK_AB", "HADD2.F32"}));
}

// A sum that goes a way which is not followed is not vouched for, though another one was seen to be rounded.
TEST(Audit, ASumThatWasNotSeenToBeRoundedIsNotCalledRounded) {
  const std::vector<std::string> sums{"HADD2.F32 R13, -RZ, R4.H1_H1", "HADD2.F32 R14, -RZ, R8.H1_H1",
                                      "FADD R15, R13, R14",           "HADD2.F32 R13, -RZ, R4.H0_H0",
                                      "HADD2.F32 R14, -RZ, R8.H0_H0", "FADD R16, R13, R14"};
  std::vector<std::string> lost = sums;
  lost.insert(lost.end(), {"F2FP.F16.F32.PACK_AB R12, RZ, R16", "HADD2.F32 R16, -RZ, R12.H0_H0",
                           "FSEL R18, R15, R15, P0", "FMUL R18, R18, R18"});
  EXPECT_EQ(of_sum(lost).sum, SumRounding::unseen);
  EXPECT_EQ(name(SumRounding::unseen), "FP32 add, NOT SEEN ROUNDED");
  std::vector<std::string> both = sums;
  both.insert(both.end(), {"F2FP.F16.F32.PACK_AB R12, R15, R16", "HADD2.F32 R16, -RZ, R12.H0_H0"});
  EXPECT_EQ(of_sum(both).sum, SumRounding::converted);
  std::vector<std::string> moved = sums;
  moved.insert(moved.end(), {"F2FP.F16.F32.PACK_AB R12, R15, R16", "IMAD.MOV.U32 R16, RZ, RZ, R15"});
  EXPECT_EQ(of_sum(moved).sum, SumRounding::missing);  // the product is of the sum that was moved
}

// Two bytes fill one register; the next one keeps what it holds.
TEST(Audit, ALoadFillsTheRegistersOfItsWidth) {
  const AuditFacts facts = audit(section_of({"LDG.E.U16 R4, desc[UR4][R2.64]", "HADD2.F32 R6, -RZ, R4.H0_H0",
                                             "HADD2.F32 R7, -RZ, R5.H0_H0", "FADD R8, R6, R7"}));
  EXPECT_EQ(facts.sum, SumRounding::none);
}

TEST(Audit, WithoutABiasThereIsNoSum) {
  EXPECT_EQ(of_sum({"HADD2.F32 R16, -RZ, R4.H1_H1"}).sum, SumRounding::none);
}

// Loading a constant looks like a packed multiply-add.
TEST(Audit, AConstantIsNoSum) {
  EXPECT_EQ(of_sum({"HFMA2.MMA R16, -RZ, RZ, 1.875, 0"}).sum, SumRounding::none);
}

TEST(Audit, CountsFunctionsWidthsAndSpills) {
  const AuditFacts facts =
      audit(section_of({"I2F.U32.RP R0, R1", "MUFU.RCP R0, R0", "MUFU.EX2 R2, R3", "MUFU.RCP R2, R2",
                        "LDL R5, [R1]", "STL [R1], R5", "LDG.E.U16 R6, desc[UR4][R2.64]",
                        "LDG.E.NA.ENL2.256 R8, R12, desc[UR4][R2.64]", "STG.E.EF.128 desc[UR4][R2.64], R8"}));
  EXPECT_EQ(facts.unit_functions, (std::map<std::string, int>{{"EX2", 1}, {"RCP", 1}}));
  EXPECT_EQ(facts.integer_reciprocals, 1);
  EXPECT_EQ(facts.loads, (std::map<int, int>{{2, 1}, {32, 1}}));
  EXPECT_EQ(facts.stores, (std::map<int, int>{{16, 1}}));
  EXPECT_EQ(facts.spills, 2);
}

TEST(Audit, WaitingAfterTheFirstLoadIsNotWaiting) {
  const char* load = "LDG.E R6, desc[UR4][R2.64]";
  EXPECT_TRUE(audit(section_of({"ACQBULK", load})).waits_for_producer);
  EXPECT_FALSE(audit(section_of({load, "ACQBULK"})).waits_for_producer);
  EXPECT_TRUE(audit(section_of({load, "PREEXIT"})).releases_consumer);
}

TEST(Audit, EveryDifferenceFromTheContractIsSaid) {
  const AuditExpectation expected{SumRounding::packed_add, {"EX2", "RCP"}, 32, true};
  AuditFacts facts{.sum = SumRounding::packed_add,
                   .between = {},
                   .unit_functions = {{"EX2", 4}, {"RCP", 4}},
                   .loads = {{32, 3}},
                   .stores = {{32, 2}},
                   .spills = 0,
                   .waits_for_producer = true,
                   .releases_consumer = true};
  EXPECT_TRUE(compare(facts, expected).empty());
  facts.sum = SumRounding::missing;
  facts.unit_functions = {{"TANH", 1}};
  facts.loads = {{16, 6}};
  facts.stores = {{16, 1}, {32, 1}};
  facts.spills = 3;
  facts.waits_for_producer = facts.releases_consumer = false;
  EXPECT_EQ(compare(facts, expected),
            (std::vector<std::string>{
                "the sum: NOT ROUNDED, expected packed add", "special-function unit: TANH, expected EX2 RCP",
                "loads of 16 bytes, expected of 32 bytes", "stores of 16, 32 bytes, expected of 32 bytes",
                "3 accesses of spilled registers", "does not wait for the kernels ahead before it reads",
                "does not release the next kernel"}));
}

}  // namespace
}  // namespace bitproof::conformance::emulator
