// Every row of the instruction table, executed on literal operands; and what has no row.
#include "conformance/emulator/instruction_table.h"

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/program.h"
#include "conformance/emulator/warp.h"

namespace bitproof::conformance::emulator {
namespace {

Program program_of(const std::string& instruction) {
  const std::string text = "\t.target sm_100\n\t.section\t.text.kernel,\"ax\"\nkernel:\n        /*0000*/ " +
                           instruction + " ;\n.L_x_0:\n        /*0010*/ EXIT ;\n";
  const Listing listing = parse_listing(text);
  return decode(listing.sections.front(), listing.architecture);
}

// Registers by name: "R4", "UR4", "P0", "UP0".
using State = std::map<std::string, std::uint32_t>;

std::uint32_t* scalar_of(Warp& warp, const std::string& name, int lane) {
  const auto number = [&](std::size_t prefix) {
    return static_cast<std::size_t>(std::stoi(name.substr(prefix)));
  };
  if (name.starts_with("UR")) return &warp.uniform[number(2)];
  return &warp.registers[number(1)][lane];
}

struct Row {
  std::string instruction;
  State before, after;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.instruction; }

// Executes one instruction in lane 5 alone and gives the state that `names` ask for.
State execute(const std::string& instruction, const State& before, const State& names) {
  constexpr int kLane = 5;
  constexpr std::uint32_t kMask = 1u << kLane;
  const auto warp = std::make_unique<Warp>();
  ConstantBank constants;
  constants.store(0x160, std::uint64_t{0x1122334455667788});
  constants.store(0x168, std::uint64_t{0x99AABBCCDDEEFF00});
  warp->constants = &constants;
  for (Lanes& lanes : warp->registers) lanes.values.fill(0);
  warp->uniform.fill(0);
  warp->predicates.fill(0);
  warp->uniform_predicates.fill(0);
  warp->predicates[kTruePredicate] = warp->uniform_predicates[kTruePredicate] = kAllLanes;
  warp->thread[0].values.fill(17);
  warp->block = {3, 4, 5};
  for (const auto& [name, value] : before) {
    if (name.starts_with("UP")) {
      warp->uniform_predicates[static_cast<std::size_t>(name[2] - '0')] = value != 0 ? kAllLanes : 0;
    } else if (name.starts_with("P")) {
      warp->predicates[static_cast<std::size_t>(name[1] - '0')] = value != 0 ? kAllLanes : 0;
    } else {
      *scalar_of(*warp, name, kLane) = value;
    }
  }
  const Program program = program_of(instruction);
  const Instruction& in = program.code.front();
  in.execute(*warp, in, kMask);
  State after;
  for (const auto& [name, expected] : names) {
    if (name.starts_with("UP")) {
      after[name] = warp->uniform_predicates[static_cast<std::size_t>(name[2] - '0')] >> kLane & 1;
    } else if (name.starts_with("P")) {
      after[name] = warp->predicates[static_cast<std::size_t>(name[1] - '0')] >> kLane & 1;
    } else {
      after[name] = *scalar_of(*warp, name, kLane);
    }
  }
  return after;
}

const Row kRows[] = {
    // FP32. 1 + 2^-24 is a tie; toward +inf it is 1 + 2^-23.
    {"FADD R0, R1, R2", {{"R1", 0x3F800000}, {"R2", 0x33800000}}, {{"R0", 0x3F800000}}},
    {"FADD.RP R0, R1, R2", {{"R1", 0x3F800000}, {"R2", 0x33800000}}, {{"R0", 0x3F800001}}},
    {"FADD.FTZ R0, R1, -R2", {{"R1", 0x00000001}, {"R2", 0x80000001}}, {{"R0", 0}}},
    {"FMUL R0, |R1|, -0.5", {{"R1", 0xC0000000}}, {{"R0", 0xBF800000}}},
    // (1 + 2^-12)^2 - (1 + 2^-11) = 2^-24, lost if the product were rounded.
    {"FFMA R0, R1, R1, R2", {{"R1", 0x3F800800}, {"R2", 0xBF801000}}, {{"R0", 0x33800000}}},
    {"FMNMX R0, R1, R2, PT", {{"R1", 0x7FC00000}, {"R2", 0x3F800000}}, {{"R0", 0x3F800000}}},
    {"FMNMX R0, R1, R2, !PT", {{"R1", 0x80000000}, {"R2", 0x00000000}}, {{"R0", 0x00000000}}},
    {"FSEL R0, R1, 1, P1", {{"R1", 0xFF800001}, {"P1", 1}}, {{"R0", 0xFF800001}}},
    {"FSETP.GE.AND P0, P2, |R1|, 0.6, P1", {{"R1", 0xBF19999A}, {"P1", 1}}, {{"P0", 1}, {"P2", 0}}},
    {"FSETP.LTU.AND P0, PT, R1, 1, PT", {{"R1", 0x7FC00000}}, {{"P0", 1}}},
    {"MUFU.EX2 R0, R1", {{"R1", 0x40400000}}, {{"R0", 0x41000000}}},               // 2^3
    {"MUFU.RCP R0, UR4", {{"UR4", 0x40800000}}, {{"R0", 0x3E800000}}},             // 1/4
    {"I2F.U64.RP R0, R2", {{"R2", 1}, {"R3", 0x01000000}}, {{"R0", 0x5B800001}}},  // 2^56 + 1 upwards
    {"I2F.U32.RP R0, R3", {{"R3", 0x01000001}, {"R4", 1}}, {{"R0", 0x4B800001}}},
    {"I2FP.F32.U32 R0, R2", {{"R2", 0x01000001}}, {{"R0", 0x4B800000}}},
    {"UI2F.U32.RP UR6, UR10", {{"UR10", 0x01000001}}, {{"UR6", 0x4B800001}}},
    {"F2I.FTZ.U32.TRUNC.NTZ R0, R1", {{"R1", 0x40700000}}, {{"R0", 3}}},
    {"F2I.U64.TRUNC R2, R1", {{"R1", 0x57800000}}, {{"R2", 0}, {"R3", 0x00010000}}},  // 2^48

    // 16 bits. fp16: 1 + 2^-11 is a tie, 0x3C00; 1 + 1 = 2.
    {"HADD2 R0, R1, R2", {{"R1", 0x3C003C00}, {"R2", 0x3C001000}}, {{"R0", 0x40003C00}}},
    {"HADD2.F32 R0, -RZ, R1.H1_H1", {{"R1", 0xC000FFFF}}, {{"R0", 0xC0000000}}},
    {"HADD2.BF16_V2 R0, R1, R2", {{"R1", 0x3F803F80}, {"R2", 0x3F803B80}}, {{"R0", 0x40003F80}}},
    // The upper immediate is printed first.
    {"HFMA2 R0, -RZ, RZ, 1.875, 1.1920928955078125e-07", {}, {{"R0", 0x3F800002}}},
    {"HFMA2.MMA.BF16_V2 R0, R1, 1, 1, R2", {{"R1", 0x80003F80}, {"R2", 0x80003F80}}, {{"R0", 0x80004000}}},
    {"F2FP.F16.F32.PACK_AB R0, R1, R2", {{"R1", 0x3F800000}, {"R2", 0x477FF000}}, {{"R0", 0x3C007C00}}},
    {"F2FP.BF16.PACK_AB R0, RZ, R2", {{"R2", 0x3F808000}}, {{"R0", 0x00003F80}}},

    // Integers. -x carries for x = 0: nothing is borrowed.
    {"IADD3 R0, P0, P1, R1, -R2, -R3", {{"R1", 5}}, {{"R0", 5}, {"P0", 1}, {"P1", 1}}},
    {"IADD3 R0, P0, -R1, R2, RZ", {{"R1", 6}, {"R2", 5}}, {{"R0", 0xFFFFFFFF}, {"P0", 0}}},
    {"IADD3 R0, R1, 0x7, R2", {{"R1", 0xFFFFFFFF}, {"R2", 1}}, {{"R0", 7}}},
    {"IADD3.X R0, R1, ~R2, RZ, P0, !PT", {{"R1", 9}, {"R2", 4}, {"P0", 1}}, {{"R0", 5}}},
    {"UIADD3 UR0, UP0, UPT, UR1, -UR2, URZ", {{"UR1", 3}, {"UR2", 4}}, {{"UR0", 0xFFFFFFFF}, {"UP0", 0}}},
    {"UIADD3.X UR0, UPT, UPT, URZ, ~UR1, URZ, UP0, !UPT", {{"UR1", 1}, {"UP0", 1}}, {{"UR0", 0xFFFFFFFF}}},
    {"VIADD R0, R1, 0xffffffe", {{"R1", 2}}, {{"R0", 0x10000000}}},
    {"IADD.64 R0, R2, -R4", {{"R2", 0}, {"R3", 1}, {"R4", 1}}, {{"R0", 0xFFFFFFFF}, {"R1", 0}}},
    {"UIADD3.64 UR0, UPT, UPT, UR2, UR4, URZ", {{"UR2", 0xFFFFFFFF}, {"UR4", 1}}, {{"UR0", 0}, {"UR1", 1}}},
    {"IMAD R0, R1, 0xc, R2", {{"R1", 3}, {"R2", 1}}, {{"R0", 37}}},
    {"IMAD.IADD R0, R1, 0x1, -R2", {{"R1", 3}, {"R2", 1}}, {{"R0", 2}}},
    {"UIMAD UR0, UR1, UR2, URZ", {{"UR1", 3}, {"UR2", 5}}, {{"UR0", 15}}},
    {"IMAD.X R0, R1, 0x1, ~R3, P2", {{"R1", 9}, {"R3", 4}, {"P2", 1}}, {{"R0", 5}}},
    {"IMAD.WIDE R0, R2, R3, R4",
     {{"R2", 0xFFFFFFFF}, {"R3", 2}, {"R4", 1}},
     {{"R0", 0xFFFFFFFF}, {"R1", 0xFFFFFFFF}}},
    {"IMAD.WIDE.U32 R0, P0, R2, R3, R4",
     {{"R2", 0xFFFFFFFF}, {"R3", 0xFFFFFFFF}, {"R4", 0xFFFFFFFF}, {"R5", 0xFFFFFFFF}},
     {{"R0", 0}, {"R1", 0xFFFFFFFE}, {"P0", 1}}},
    {"IMAD.WIDE.U32.X R0, R2, R3, R4, P0",
     {{"R2", 2}, {"R3", 3}, {"R4", 4}, {"P0", 1}},
     {{"R0", 11}, {"R1", 0}}},
    {"UIMAD.WIDE.U32 UR0, UR2, 0x100, URZ", {{"UR2", 0x01000000}}, {{"UR0", 0}, {"UR1", 1}}},
    // The addend is a pair: here 2^32 * 7.
    {"IMAD.HI.U32 R0, R2, R3, R4", {{"R2", 0x80000000}, {"R3", 4}, {"R5", 7}}, {{"R0", 9}}},
    {"LEA R0, P0, R2, R3, 0x2", {{"R2", 0x40000001}, {"R3", 0xFFFFFFFC}}, {{"R0", 0}, {"P0", 1}}},
    {"ULEA UR0, UP0, UR2, UR3, 0x2", {{"UR2", 3}, {"UR3", 1}}, {{"UR0", 13}, {"UP0", 0}}},
    {"LEA.HI R0, R2, R3, RZ, 0x3", {{"R2", 0xE0000000}, {"R3", 1}}, {{"R0", 8}}},
    {"ULEA.HI UR0, UP0, UR2, UR3, URZ, 0x3", {{"UR2", 0xE0000000}, {"UR3", 1}}, {{"UR0", 8}}},
    {"LEA.HI.X R0, R2, R3, R4, 0x1, P0", {{"R2", 0x80000000}, {"R3", 10}, {"R4", 2}, {"P0", 1}}, {{"R0", 16}}},
    {"ULEA.HI.X UR0, UR2, UR3, UR4, 0x1, UP0", {{"UR2", 0x80000000}, {"UR3", 10}, {"UR4", 2}}, {{"UR0", 15}}},
    {"LEA.HI.SX32 R0, R2, R3, 0x1c", {{"R2", 0xFFFFFF00}, {"R3", 1}}, {{"R0", 0xFFFFFFF1}}},
    {"SHF.L.U32 R0, R1, 0x4, RZ", {{"R1", 0x11111111}}, {{"R0", 0x11111110}}},
    {"SHF.L.U32 R0, R1, R2, RZ", {{"R1", 1}, {"R2", 32}}, {{"R0", 0}}},  // everything shifted out
    {"SHF.L.U64.HI R0, R1, 0x3, R2", {{"R1", 0xE0000000}, {"R2", 1}}, {{"R0", 15}}},
    {"SHF.R.U32.HI R0, RZ, 0x1c, R2", {{"R2", 0xF0000000}}, {{"R0", 15}}},
    {"USHF.R.S32.HI UR0, URZ, 0x1f, UR2", {{"UR2", 0x80000000}}, {{"UR0", 0xFFFFFFFF}}},
    {"USHF.R.S64 UR0, UR2, 0x3, UR3", {{"UR2", 8}, {"UR3", 0xFFFFFFFF}}, {{"UR0", 0xE0000001}}},
    // 0xb8: bits of a under the mask b, of c elsewhere: the sign of c put on a.
    {"LOP3.LUT R0, R1, 0x80000000, R2, 0xb8, !PT",
     {{"R1", 0x3F800000}, {"R2", 0x80000001}},
     {{"R0", 0xBF800000}}},
    {"LOP3.LUT P0, RZ, R1, 0x3, RZ, 0xc0, !PT", {{"R1", 4}}, {{"P0", 0}}},
    {"LOP3.LUT P0, RZ, R1, 0x3, RZ, 0xc0, !PT", {{"R1", 6}}, {{"P0", 1}}},
    {"ULOP3.LUT UR0, UR1, 0xff, URZ, 0xc0, !UPT", {{"UR1", 0x1234}}, {{"UR0", 0x34}}},
    {"PLOP3.LUT P0, P1, P2, P3, PT, 0x8, 0x80", {{"P2", 0}, {"P3", 1}}, {{"P0", 1}, {"P1", 0}}},
    {"PRMT R0, R1, 0x7610, R2", {{"R1", 0x33221100}, {"R2", 0x77665544}}, {{"R0", 0x77661100}}},
    {"PRMT R0, R1, 0x9, RZ", {{"R1", 0x00008000}}, {{"R0", 0x000000FF}}},  // byte 0: the sign of byte 1
    {"UPRMT UR0, UR1, 0x5410, UR2", {{"UR1", 0x33221100}, {"UR2", 0x77665544}}, {{"UR0", 0x55441100}}},
    {"ISETP.LT.AND P0, P1, R1, R2, PT", {{"R1", 0xFFFFFFFF}}, {{"P0", 1}, {"P1", 0}}},
    {"ISETP.LT.U32.OR P0, PT, R1, R2, P1", {{"R1", 0xFFFFFFFF}}, {{"P0", 0}}},
    {"UISETP.GE.U32.AND UP0, UPT, UR1, UR2, UPT", {{"UR1", 2}, {"UR2", 2}}, {{"UP0", 1}}},
    {"ISETP.GE.AND.EX P0, PT, R1, R2, PT, P1", {{"R1", 7}, {"R2", 7}, {"P1", 0}}, {{"P0", 0}}},
    {"ISETP.NE.AND.EX P0, PT, R1, R2, PT, P1", {{"R1", 7}, {"R2", 6}, {"P1", 0}}, {{"P0", 1}}},
    {"UISETP.GE.AND.EX UP0, UPT, UR1, UR2, UPT, UP1", {{"UR1", 7}, {"UR2", 7}, {"UP1", 1}}, {{"UP0", 1}}},
    {"ISETP.GE.S64.AND P0, PT, R2, UR4, PT", {{"R2", 0}, {"R3", 0xFFFFFFFF}, {"UR4", 1}}, {{"P0", 0}}},
    {"ISETP.GE.U64.AND P0, PT, R2, 0x3, PT", {{"R2", 0}, {"R3", 0xFFFFFFFF}}, {{"P0", 1}}},
    {"UISETP.GE.S64.AND UP0, UPT, UR2, UR4, UPT", {{"UR2", 5}, {"UR4", 5}}, {{"UP0", 1}}},
    {"IMNMX.S64 PT, PT, R0, R2, UR4, !PT, !PT", {{"R3", 0x80000000}, {"UR4", 3}}, {{"R0", 3}, {"R1", 0}}},
    {"IMNMX.U64 PT, PT, R0, R2, UR4, !PT, !PT",
     {{"R3", 0x80000000}, {"UR4", 3}},
     {{"R0", 0}, {"R1", 0x80000000}}},

    // Moves and constants; the bank of the test holds 0x1122334455667788 at 0x160.
    {"MOV R0, c[0x0][0x164]", {}, {{"R0", 0x11223344}}},
    {"UMOV UR0, 0x4", {}, {{"UR0", 4}}},
    {"MOV.64 R0, UR4", {{"UR4", 1}, {"UR5", 2}}, {{"R0", 1}, {"R1", 2}}},
    {"UMOV.64 UR6, UR4", {{"UR4", 1}, {"UR5", 2}}, {{"UR6", 1}, {"UR7", 2}}},
    {"R2UR UR4, R1", {{"R1", 9}}, {{"UR4", 9}}},
    {"SEL R0, R1, 0xffffffff, P0", {{"R1", 5}, {"P0", 0}}, {{"R0", 0xFFFFFFFF}}},
    {"USEL UR0, UR1, UR2, !UP0", {{"UR1", 5}, {"UR2", 6}, {"UP0", 0}}, {{"UR0", 5}}},
    {"SEL.64 R0, R2, -0x1, P1", {{"P1", 0}}, {{"R0", 0xFFFFFFFF}, {"R1", 0xFFFFFFFF}}},
    {"USEL.64 UR0, UR2, UR4, UP1", {{"UP1", 1}, {"UR2", 1}, {"UR3", 2}}, {{"UR0", 1}, {"UR1", 2}}},
    {"LDC R0, c[0x0][0x160]", {}, {{"R0", 0x55667788}}},
    {"LDC.64 R0, c[0x0][0x160]", {}, {{"R0", 0x55667788}, {"R1", 0x11223344}}},
    {"ULDC UR0, c[0x0][0x164]", {}, {{"UR0", 0x11223344}}},
    {"ULDC.64 UR0, c[0x0][0x160]", {}, {{"UR0", 0x55667788}, {"UR1", 0x11223344}}},
    {"LDCU UR0, c[0x0][0x164]", {}, {{"UR0", 0x11223344}}},
    {"LDCU.64 UR0, c[0x0][0x160]", {}, {{"UR0", 0x55667788}, {"UR1", 0x11223344}}},
    {"LDCU.128 UR0, c[0x0][0x160]",
     {},
     {{"UR0", 0x55667788}, {"UR1", 0x11223344}, {"UR2", 0xDDEEFF00}, {"UR3", 0x99AABBCC}}},
    {"CS2R R0, SRZ", {{"R0", 1}, {"R1", 1}}, {{"R0", 0}, {"R1", 0}}},
    {"S2R R0, SR_TID.X", {}, {{"R0", 17}}},
    {"S2UR UR4, SR_CTAID.Y", {}, {{"UR4", 4}}},
    {"NOP", {{"R0", 1}}, {{"R0", 1}}},
    {"ACQBULK", {{"R0", 1}}, {{"R0", 1}}},
    {"PREEXIT", {{"R0", 1}}, {{"R0", 1}}},
};

class EveryInstruction : public ::testing::TestWithParam<Row> {};

TEST_P(EveryInstruction, GivesTheLiteralResult) {
  const Row& row = GetParam();
  EXPECT_EQ(execute(row.instruction, row.before, row.after), row.after);
}

INSTANTIATE_TEST_SUITE_P(InstructionTable, EveryInstruction, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return "row" + std::to_string(row.index); });

TEST(InstructionTable, HasALiteralTestForEveryRowThatComputes) {
  std::set<std::uint32_t> tested;
  for (const Row& row : kRows) tested.insert(program_of(row.instruction).code.front().entry);
  const auto table = instruction_table();
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    const bool is_memory = table[i].syntax.find('m') != std::string_view::npos;  // launch_test.cpp
    if (table[i].control != Control::none || is_memory) continue;
    EXPECT_TRUE(tested.contains(i)) << table[i].mnemonic;
  }
}

TEST(InstructionTable, ModifiersAreModesByTheirPlaceInTheGroup) {
  const auto plain = match_mnemonic("FADD"), flushing = match_mnemonic("FADD.FTZ.RP");
  ASSERT_EQ(plain.size(), 1u);
  ASSERT_EQ(flushing.size(), 1u);
  EXPECT_EQ(plain[0].mode, (std::array<std::uint8_t, kMaxModes>{0, 0, 0, 0}));
  EXPECT_EQ(flushing[0].mode, (std::array<std::uint8_t, kMaxModes>{1, 2, 0, 0}));
}

// Whether the decoder does not know an instruction, and says so with its text and address.
bool stops(const std::string& instruction) {
  try {
    program_of(instruction);
    return false;
  } catch (const Unsupported& unsupported) {
    const std::string what = unsupported.what();
    return what.find('"' + instruction + "\" at 0x0000 of kernel") != std::string::npos;
  }
}

// Whatever it is that has no row.
TEST(InstructionTable, WhatIsNotThereStopsTheDecoder) {
  for (const char* unknown : {"DFMA R0, R2, R4, R6",
                              "FADD.SAT R0, R1, R2",
                              "FADD R0, ~R1, R2",
                              "MUFU.RCP64H R0, R1",
                              "FADD R0, R1, -QNAN",
                              "SHFL.DOWN PT, R0, R1, 0x10, 0x1f",
                              "LDS R0, [R1]",
                              "BAR.SYNC 0x0",
                              "LDG.E.CONSTANT R0, desc[UR4][R2.64]",
                              "MOV R0, c[0x3][0x8]",
                              "S2R R0, SR_CLOCKLO",
                              "FADD R0, R1",
                              "FADD R0, R1, R2, R3",
                              "IMAD R0, |R1|, R2, R3",
                              "SHF.L.U32 R0, R1, R2, R3",
                              "BRA `(.L_x_9)",
                              "IMNMX.S64 PT, PT, R0, R2, UR4, PT, !PT",
                              "HADD2 R0, R1, 0.1, 0.1",
                              "FADD R0, R1, nan",
                              "SHF.R.S32 R0, R1, 0x4, RZ",
                              "LOP3.LUT P0, RZ, R1, 0x3, RZ, 0xc0, P1",
                              "I2F.S32 R0, R1",
                              "LDC R0, c[0x0][R1+0x160]",
                              "LDG.E R0, desc[UR4][UR2.64]",
                              "LDG.E R0, desc[UR4][R2.64+UR6]",
                              "FMUL.FTZ.SAT R0, R1, R2",
                              "HADD2.F32.FTZ R0, -RZ, R1.H0_H0",
                              "F2FP.BF16.F32.PACK_AB.RZ R0, R1, R2",
                              "MUFU.EX2.F16 R0, R1",
                              "WARPSYNC 0xffffffff",
                              "BREAK B0",
                              "ATOMG.E.ADD PT, R0, desc[UR4][R2.64], R1"})
    EXPECT_TRUE(stops(unknown)) << unknown;
}

// A sign that a row would leave out would be a guess.
TEST(InstructionTable, ASignThatTheRowDoesNotHaveStopsTheDecoder) {
  for (const char* unknown :
       {"MOV R0, -R1", "MOV R0, ~R1", "SEL R0, -R1, R2, P0", "PRMT R0, ~R1, 0x7610, R2",
        "SHF.L.U32 R0, -R1, 0x4, RZ", "I2F.U32.RP R0, -R1", "IMAD R0, -R1, R2, R3", "IMAD R0, R1, -R2, R3",
        "IMAD R0, R1, R2, ~R3", "IMAD.WIDE R0, -R2, R3, R4", "IMAD.WIDE R0, R2, R3, -R4",
        "IADD3 R0, ~R1, R2, R3", "IADD3.X R0, -R1, R2, RZ, P0, !PT", "LEA R0, -R1, R2, 0x2",
        "LOP3.LUT R0, ~R1, R2, R3, 0xc0, !PT", "ISETP.LT.AND P0, PT, -R1, R2, PT", "IADD.64 R0, R2, ~R4"})
    EXPECT_TRUE(stops(unknown)) << unknown;
}

// What uniform instructions took from lanes, or gave them, would be that of one lane.
TEST(InstructionTable, TheUniformDatapathIsNotMixedWithTheLanes) {
  for (const char* unknown :
       {"UIADD3 UR0, R1, UR2, URZ", "UIADD3 R0, UR1, UR2, URZ", "IADD3 UR0, R1, R2, RZ",
        "@P0 UIADD3 UR0, UR1, UR2, URZ", "ISETP.LT.AND UP0, PT, R1, R2, PT",
        "UISETP.LT.AND P0, UPT, UR1, UR2, UPT", "S2UR UR4, SR_TID.X", "S2UR UR4, SR_LANEID", "R2UR R4, R5",
        "R2UR UR4, UR5", "USEL UR0, UR1, UR2, P0", "BRA.U P0, `(.L_x_0)", "LDCU R0, c[0x0][0x160]"})
    EXPECT_TRUE(stops(unknown)) << unknown;
  EXPECT_FALSE(stops("@!P0 R2UR UR6, R50"));  // whose lanes are compared
  EXPECT_FALSE(stops("@UP0 UIADD3 UR0, UR1, UR2, URZ"));
}

TEST(InstructionTable, RegistersOfSeveralWordsStartAndEndWhereTheyCan) {
  for (const char* unknown : {"IADD.64 R1, R2, R4", "IADD.64 R0, R3, R4", "LDG.E R0, desc[UR4][R3.64]",
                              "LDG.E.64 R3, desc[UR4][R2.64]", "LDG.E.128 R6, desc[UR4][R2.64]",
                              "LDG.E.128 R252, desc[UR4][R2.64]", "LDC.64 R254, c[0x0][0x160]",
                              "STG.E.EF.ENL2.256 desc[UR4][R4.64], R8, R14", "LDCU.128 UR6, c[0x0][0x160]"})
    EXPECT_TRUE(stops(unknown)) << unknown;
  EXPECT_FALSE(stops("LDG.E.128 R248, desc[UR4][R2.64]"));
  EXPECT_FALSE(stops("LDC.64 R252, c[0x0][0x160]"));
  EXPECT_FALSE(stops("STG.E.128 desc[UR4][R4.64], RZ"));
}

// Of 64 bits only 32 are in the instruction: by sign or by zeros, the text does not say.
TEST(InstructionTable, AnImmediateThatIsTwoNumbersStopsTheDecoder) {
  EXPECT_TRUE(stops("ISETP.GE.U64.AND P0, PT, R2, 0xffffffff, PT"));
  EXPECT_TRUE(stops("SEL.64 R0, R2, 0x80000000, P1"));
  EXPECT_TRUE(stops("MOV R0, 0x100000000"));
  EXPECT_FALSE(stops("ISETP.GE.U64.AND P0, PT, R2, 0x7fffffff, PT"));
  EXPECT_FALSE(stops("MOV R0, 0xffffffff"));
}

TEST(InstructionTable, AValueThatDiffersBetweenLanesCannotBecomeUniform) {
  const auto warp = std::make_unique<Warp>();
  warp->registers[1].values.fill(1);
  warp->registers[1][7] = 2;
  const Program program = program_of("R2UR UR4, R1");
  EXPECT_THROW(program.code[0].execute(*warp, program.code[0], kAllLanes), CodeFault);
  EXPECT_NO_THROW(program.code[0].execute(*warp, program.code[0], 0x7Fu));
}

TEST(InstructionTable, AConstantThatNoLaunchSetsStopsTheEmulator) {
  EXPECT_THROW(execute("LDC R0, c[0x0][0x400]", {}, {{"R0", 0}}), Unsupported);
}

}  // namespace
}  // namespace bitproof::conformance::emulator
