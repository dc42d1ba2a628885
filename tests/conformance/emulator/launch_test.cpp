// Warps, branches and memory, on programs written out here.
#include "conformance/emulator/launch.h"

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/emulator/fault.h"

namespace bitproof::conformance::emulator {
namespace {

struct Step {
  std::string label;  // in front of it, or nothing
  std::string instruction;
};

Program program_of(const std::vector<Step>& steps) {
  std::string text = "\t.target sm_90\n\t.section\t.text.kernel,\"ax\"\nkernel:\n";
  char address[16];
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (!steps[i].label.empty()) text += steps[i].label + ":\n";
    std::snprintf(address, sizeof address, "/*%04zx*/ ", 16 * i);
    text += address + steps[i].instruction + " ;\n";
  }
  const Listing listing = parse_listing(text);
  return decode(listing.sections.front(), listing.architecture);
}

// Two arrays: the kernel's parameters are their addresses, at c[0x0][0x210] and c[0x0][0x218].
struct Arrays {
  alignas(32) std::vector<std::uint32_t> input, output;

  Arrays(std::size_t inputs, std::size_t outputs) : input(inputs), output(outputs, 0xA5A5A5A5u) {
    for (std::size_t i = 0; i < inputs; ++i) input[i] = static_cast<std::uint32_t>(100 + i);
  }

  void run(const Program& program, const Geometry& geometry = {{1, 1, 1}, {32, 1, 1}}) {
    const auto address = [](const std::vector<std::uint32_t>& words) {
      return reinterpret_cast<std::uintptr_t>(words.data());
    };
    GlobalMemory memory({{"input", address(input), address(input) + 4 * input.size(), true, false, true},
                         {"output", address(output), address(output) + 4 * output.size(), true, true, false}});
    const std::uint64_t parameters[] = {address(input), address(output)};
    launch(program, geometry, std::as_bytes(std::span(parameters)), memory);
  }
};

// R2:R3 = input + scale * thread, R4:R5 = output + scale * thread.
std::vector<Step> with_addresses(int scale, std::vector<Step> rest) {
  const std::string by = std::to_string(scale);
  std::vector<Step> steps{{"", "S2R R0, SR_TID.X"},
                          {"", "LDC.64 R2, c[0x0][0x210]"},
                          {"", "LDC.64 R4, c[0x0][0x218]"},
                          {"", "IMAD.WIDE.U32 R2, R0, 0x" + by + ", R2"},
                          {"", "IMAD.WIDE.U32 R4, R0, 0x" + by + ", R4"}};
  steps.insert(steps.end(), rest.begin(), rest.end());
  return steps;
}

std::string message_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::exception& failure) {
    return failure.what();
  }
  return "";
}

TEST(Launch, EveryThreadOfEveryBlockRunsOnce) {
  // output[8 * block + thread] = thread + 16 * block, in blocks of 8 threads: warps with lanes that are not
  // there.
  const Program program = program_of({{"", "S2R R0, SR_TID.X"},
                                      {"", "S2R R1, SR_CTAID.X"},
                                      {"", "LDC.64 R4, c[0x0][0x218]"},
                                      {"", "IMAD R2, R1, 0x8, R0"},
                                      {"", "IMAD R3, R1, 0x10, R0"},
                                      {"", "IMAD.WIDE.U32 R4, R2, 0x4, R4"},
                                      {"", "STG.E desc[UR4][R4.64], R3"},
                                      {"", "EXIT"}});
  Arrays arrays(1, 24);
  arrays.run(program, {{3, 1, 1}, {8, 1, 1}});
  for (std::uint32_t i = 0; i < 24; ++i) EXPECT_EQ(arrays.output[i], i % 8 + 16 * (i / 8)) << i;
}

TEST(Launch, LoadsAndStoresAreLittleEndianInEveryWidth) {
  const struct {
    std::string load, store;
    int scale;
  } widths[] = {
      {"LDG.E.128 R8, desc[UR4][R2.64]", "STG.E.128 desc[UR4][R4.64], R8", 16},
      {"LDG.E.64 R8, desc[UR4][R2.64]", "STG.E.64 desc[UR4][R4.64], R8", 8},
      {"LDG.E R8, desc[UR4][R2.64]", "STG.E desc[UR4][R4.64], R8", 4},
      {"LDG.E.U16 R8, desc[UR4][R2.64]", "STG.E.U16 desc[UR4][R4.64], R8", 2},
      {"LDG.E.U8 R8, [R2.64]", "STG.E.U8 [R4.64], R8", 1},
      // The lower half is the register that a load prints second and a store first.
      {"LDG.E.ENL2.256 R12, R8, desc[UR4][R2.64]", "STG.E.EF.ENL2.256 desc[UR4][R4.64], R8, R12", 32}};
  for (const auto& width : widths) {
    Arrays arrays(32 * 8 + 8, 32 * 8 + 8);
    // A 32-byte boundary for the widest.
    const auto shift = [](const std::vector<std::uint32_t>& words) {
      return (32 - reinterpret_cast<std::uintptr_t>(words.data()) % 32) % 32;
    };
    char in[8], out[8];
    std::snprintf(in, sizeof in, "0x%zx", static_cast<std::size_t>(shift(arrays.input)));
    std::snprintf(out, sizeof out, "0x%zx", static_cast<std::size_t>(shift(arrays.output)));
    char scale[8];
    std::snprintf(scale, sizeof scale, "0x%x", static_cast<unsigned>(width.scale));
    const Program program = program_of({{"", "S2R R0, SR_TID.X"},
                                        {"", "LDC.64 R2, c[0x0][0x210]"},
                                        {"", "LDC.64 R4, c[0x0][0x218]"},
                                        {"", std::string("IMAD.WIDE.U32 R2, R0, ") + scale + ", R2"},
                                        {"", std::string("IMAD.WIDE.U32 R4, R0, ") + scale + ", R4"},
                                        {"", std::string("IADD.64 R2, R2, ") + in},
                                        {"", std::string("IADD.64 R4, R4, ") + out},
                                        {"", width.load},
                                        {"", width.store},
                                        {"", "EXIT"}});
    arrays.run(program);
    const auto* from = reinterpret_cast<const unsigned char*>(arrays.input.data()) + shift(arrays.input);
    const auto* to = reinterpret_cast<const unsigned char*>(arrays.output.data()) + shift(arrays.output);
    EXPECT_EQ(std::memcmp(from, to, static_cast<std::size_t>(32 * width.scale)), 0) << width.load;
    EXPECT_EQ(to[32 * width.scale], 0xA5) << width.store << " wrote too much";
  }
}

TEST(Launch, SignedNarrowLoadsExtendTheSign) {
  Arrays arrays(32, 32);
  arrays.input.assign(32, 0x80FF);
  arrays.run(program_of(with_addresses(
      4, {{"", "LDG.E.S16 R8, desc[UR4][R2.64]"}, {"", "STG.E desc[UR4][R4.64], R8"}, {"", "EXIT"}})));
  EXPECT_EQ(arrays.output[3], 0xFFFF80FFu);
}

TEST(Memory, AnAccessOutsideIsAFindingWithItsInstruction) {
  Arrays arrays(31, 32);  // the last lane reads one too far
  const std::string message = message_of([&] {
    arrays.run(program_of(with_addresses(4, {{"", "LDG.E R8, desc[UR4][R2.64]"}, {"", "EXIT"}})));
  });
  EXPECT_NE(
      message.find("read of 4 bytes out of bounds at input + 124 bytes, by thread (31, 0) of block (0, 0)"),
      std::string::npos)
      << message;
  EXPECT_NE(message.find("\"LDG.E R8, desc[UR4][R2.64]\" at 0x0050 of kernel (sm_90)"), std::string::npos)
      << message;
}

TEST(Memory, AMisalignedAccessIsAFinding) {
  Arrays arrays(64, 64);
  const Program program =
      program_of(with_addresses(4, {{"", "STG.E.64 desc[UR4][R4.64+0x4], RZ"}, {"", "EXIT"}}));
  const std::string message = message_of([&] { arrays.run(program); });
  EXPECT_NE(message.find("misaligned write of 8 bytes at output"), std::string::npos) << message;
}

// 16 bytes at the last address there is end at 0, which is below whatever the other lanes access.
TEST(Memory, TheEndOfAllAddressesIsOutside) {
  for (const auto& [access, what] : {std::pair{"LDG.E.128 R8, desc[UR4][R2.64]", "read"},
                                     std::pair{"STG.E.128 desc[UR4][R2.64], R8", "write"}}) {
    Arrays arrays(4 * 32, 4 * 32);
    const Program program = program_of(
        {{"", "S2R R0, SR_TID.X"},
         {"", std::string("LDC.64 R2, c[0x0][") + (what == std::string("read") ? "0x210]" : "0x218]")},
         {"", "ISETP.EQ.U32.AND P0, PT, R0, 0x1f, PT"},
         {"", "@P0 MOV R2, 0xfffffff0"},
         {"", "@P0 MOV R3, 0xffffffff"},
         {"", access},
         {"", "EXIT"}});
    const std::string message = message_of([&] { arrays.run(program); });
    EXPECT_NE(message.find(std::string(what) +
                           " of 16 bytes out of bounds at address 0xfffffffffffffff0, by thread (31, 0)"),
              std::string::npos)
        << message;
  }
}

TEST(Memory, AnAddressIsNamedAfterTheTensorThatHoldsItOrIsNearest) {
  const GlobalMemory memory(
      {{"input", 0x1000, 0x1080, true, false, true}, {"output", 0x1080, 0x1100, false, true, false}});
  EXPECT_EQ(memory.check_read(0x1080, 4), "read of 4 bytes of what is no input at output + 0 bytes");
  EXPECT_EQ(memory.check_write(0x107c, 4), "write of 4 bytes to an input at input + 124 bytes");
  EXPECT_EQ(memory.check_read(0x0ffc, 4), "read of 4 bytes out of bounds at input - 4 bytes");
  EXPECT_EQ(memory.check_write(0x1100, 4), "write of 4 bytes out of bounds at output + 128 bytes");
}

TEST(Memory, ReadingMoreThanWasWrittenIsAFinding) {
  Arrays arrays(32, 32);
  const std::string message = message_of([&] {
    arrays.run(program_of(with_addresses(4, {{"", "STG.E.U16 desc[UR4][R4.64], R0"},
                                             {"", "LDG.E.U16 R8, desc[UR4][R4.64]"},
                                             {"", "LDG.E R8, desc[UR4][R4.64]"},
                                             {"", "EXIT"}})));
  });
  EXPECT_NE(message.find("read of 4 bytes that nothing has written at output + 0 bytes"), std::string::npos)
      << message;
  EXPECT_NE(message.find("\"LDG.E R8, desc[UR4][R4.64]\" at 0x0070"), std::string::npos) << message;
}

TEST(Memory, ReadingWhatNothingWroteIsAFinding) {
  Arrays arrays(32, 32);
  const std::string message = message_of([&] {
    arrays.run(program_of(with_addresses(4, {{"", "LDG.E R8, desc[UR4][R4.64]"}, {"", "EXIT"}})));
  });
  EXPECT_NE(message.find("read of 4 bytes that nothing has written at output + 0 bytes"), std::string::npos)
      << message;
}

TEST(Memory, ReadingWhatTheKernelWroteIsNone) {
  Arrays arrays(32, 32);
  arrays.run(program_of(with_addresses(4, {{"", "STG.E desc[UR4][R4.64], R0"},
                                           {"", "LDG.E R8, desc[UR4][R4.64]"},
                                           {"", "IADD3 R8, R8, 0x1, RZ"},
                                           {"", "STG.E desc[UR4][R4.64], R8"},
                                           {"", "EXIT"}})));
  EXPECT_EQ(arrays.output[31], 32u);
}

TEST(Memory, WritingAnInputIsAFinding) {
  Arrays arrays(32, 32);
  const std::string message = message_of([&] {
    arrays.run(program_of(with_addresses(4, {{"", "STG.E desc[UR4][R2.64], R0"}, {"", "EXIT"}})));
  });
  EXPECT_NE(message.find("write of 4 bytes to an input at input + 0 bytes"), std::string::npos) << message;
}

TEST(Divergence, LanesGoTheirOwnWaysAndMeetAgain) {
  // Even lanes add 1000, odd ones loop as often as their number; all meet at the BSYNC.
  Arrays arrays(32, 32);
  arrays.run(program_of(with_addresses(4, {{"", "MOV R8, RZ"},
                                           {"", "LOP3.LUT P0, RZ, R0, 0x1, RZ, 0xc0, !PT"},
                                           {"", "BSSY B0, `(.L_meet)"},
                                           {"", "@P0 BRA `(.L_odd)"},
                                           {"", "IADD3 R8, R8, 0x3e8, RZ"},
                                           {"", "BRA `(.L_done)"},
                                           {".L_odd", "IADD3 R8, R8, 0x1, RZ"},
                                           {"", "ISETP.LT.U32.AND P1, PT, R8, R0, PT"},
                                           {"", "@P1 BRA `(.L_odd)"},
                                           {".L_done", "BSYNC B0"},
                                           {".L_meet", "STG.E desc[UR4][R4.64], R8"},
                                           {"", "EXIT"}})));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(arrays.output[i], i % 2 == 0 ? 1000 : i) << i;
}

TEST(Divergence, LanesThatEndAreNotWaitedFor) {
  Arrays arrays(32, 32);
  arrays.run(program_of(with_addresses(4, {{"", "ISETP.LT.U32.AND P0, PT, R0, 0x8, PT"},
                                           {"", "BSSY B0, `(.L_meet)"},
                                           {"", "@P0 BRA `(.L_end)"},
                                           {"", "BSYNC B0"},
                                           {".L_meet", "STG.E desc[UR4][R4.64], R0"},
                                           {"", "EXIT"},
                                           {".L_end", "EXIT"}})));
  EXPECT_EQ(arrays.output[7], 0xA5A5A5A5u);
  EXPECT_EQ(arrays.output[8], 8u);
}

TEST(Divergence, ACallReturnsToWhereItsRegisterSays) {
  Arrays arrays(32, 32);
  arrays.run(program_of(with_addresses(4, {{"", "MOV R6, 0x90"},
                                           {"", "MOV R7, RZ"},
                                           {"", "MOV R8, 0x1"},
                                           {"", "CALL.REL.NOINC `(.L_function)"},
                                           {"", "STG.E desc[UR4][R4.64], R8"},  // 0x90
                                           {"", "EXIT"},
                                           {".L_function", "IADD3 R8, R8, R0, RZ"},
                                           {"", "RET.REL.NODEC R6 `(kernel)"}})));
  EXPECT_EQ(arrays.output[5], 6u);
}

TEST(Divergence, AConditionalBranchHasAGuardAndAPredicate) {
  // Lanes below 8 have P0, lanes below 16 have P1: @!P0 BRA P1 is taken by lanes 8 to 15.
  Arrays arrays(32, 32);
  arrays.run(program_of(with_addresses(4, {{"", "ISETP.LT.U32.AND P0, PT, R0, 0x8, PT"},
                                           {"", "ISETP.LT.U32.AND P1, PT, R0, 0x10, PT"},
                                           {"", "MOV R8, RZ"},
                                           {"", "@!P0 BRA P1, `(.L_taken)"},
                                           {"", "STG.E desc[UR4][R4.64], R8"},
                                           {"", "EXIT"},
                                           {".L_taken", "MOV R8, 0x1"},
                                           {"", "STG.E desc[UR4][R4.64], R8"},
                                           {"", "EXIT"}})));
  for (std::uint32_t i = 0; i < 32; ++i) EXPECT_EQ(arrays.output[i], i >= 8 && i < 16 ? 1u : 0u) << i;
}

TEST(Divergence, AUniformBranchTakesAllLanes) {
  Arrays arrays(32, 32);
  arrays.run(program_of(with_addresses(4, {{"", "UISETP.LT.U32.AND UP0, UPT, URZ, 0x1, UPT"},
                                           {"", "BRA.U !UP0, `(.L_wrong)"},
                                           {"", "BRA.U UP0, `(.L_right)"},
                                           {".L_wrong", "EXIT"},
                                           {".L_right", "STG.E desc[UR4][R4.64], R0"},
                                           {"", "EXIT"}})));
  EXPECT_EQ(arrays.output[31], 31u);
}

TEST(Divergence, LanesThatWaitForEverAreAFinding) {
  // Half of the lanes wait for B0, the other half for B1, each for all.
  const std::string message = message_of([] {
    Arrays arrays(32, 32);
    arrays.run(program_of(with_addresses(4, {{"", "ISETP.LT.U32.AND P0, PT, R0, 0x10, PT"},
                                             {"", "BSSY B0, `(.L_a)"},
                                             {"", "BSSY B1, `(.L_b)"},
                                             {"", "@P0 BRA `(.L_b)"},
                                             {".L_a", "BSYNC B0"},
                                             {"", "EXIT"},
                                             {".L_b", "BSYNC B1"},
                                             {"", "EXIT"}})));
  });
  EXPECT_EQ(message, "lanes wait for lanes that never come; \"BSYNC B0\" at 0x0090 of kernel (sm_90)");
}

TEST(Divergence, RunningPastTheEndIsAFinding) {
  EXPECT_EQ(message_of([] {
              Arrays arrays(32, 32);
              arrays.run(program_of({{"", "MOV R0, RZ"}, {"", "NOP"}}));
            }),
            "ran past the end; \"NOP\" at 0x0010 of kernel (sm_90)");
}

TEST(Divergence, ALoopWithoutAnEndIsAFinding) {
  EXPECT_EQ(message_of([] {
              Arrays arrays(1, 1);
              arrays.run(program_of({{"", "NOP"}, {".L_loop", "BRA `(.L_loop)"}}), {{1, 1, 1}, {1, 1, 1}});
            }),
            "does not end; \"BRA `(.L_loop)\" at 0x0010 of kernel (sm_90)");
}

TEST(Divergence, ABsyncWithoutItsBssyIsAFinding) {
  EXPECT_EQ(message_of([] {
              Arrays arrays(1, 1);
              arrays.run(program_of({{"", "BSYNC B3"}, {"", "EXIT"}}));
            }),
            "lanes wait for lanes that never come; \"BSYNC B3\" at 0x0000 of kernel (sm_90)");
}

TEST(Divergence, AGuardedBsyncThatNotAllLanesReachStopsTheEmulator) {
  Arrays arrays(32, 32);
  EXPECT_THROW(arrays.run(program_of(with_addresses(4, {{"", "BSSY B0, `(.L_meet)"},
                                                        {"", "ISETP.LT.U32.AND P0, PT, R0, 0x8, PT"},
                                                        {".L_meet", "@P0 BSYNC B0"},
                                                        {"", "EXIT"}}))),
               Unsupported);
}

TEST(Launch, CodeWithoutInstructionsStopsTheDecoder) {
  EXPECT_THROW(program_of(std::vector<Step>{}), Unsupported);
}

}  // namespace
}  // namespace bitproof::conformance::emulator
