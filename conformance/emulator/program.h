// A kernel decoded: what a launch executes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/emulator/instruction.h"
#include "conformance/emulator/listing.h"

namespace bitproof::conformance::emulator {

struct Program {
  std::string name;          // the kernel's mangled name
  std::string architecture;  // "sm_90"
  std::vector<Instruction> code;
  std::uint32_t registers = 0;  // vector registers used
};

// Throws Unsupported with text and address of the first line that the instruction table has no row for.
Program decode(const Section& section, std::string_view architecture);

// The row of the instruction table for a mnemonic ("FADD.FTZ") and the modes of its groups.
struct MnemonicMatch {
  std::uint32_t entry;
  std::array<std::uint8_t, kMaxModes> mode;
};
std::vector<MnemonicMatch> match_mnemonic(std::string_view mnemonic);

}  // namespace bitproof::conformance::emulator
