// Every instruction that the emulator executes, one row each. What has no row stops the emulator with the
// instruction's text and address.
#pragma once

#include <span>
#include <string_view>

#include "conformance/emulator/instruction.h"

namespace bitproof::conformance::emulator {

// Where a row's semantics come from, beyond the PTX instruction that it implements.
enum class Proof {
  card,      // single-instruction kernels gave the same bits on an H200 (fixtures/evidence/emulator_sm_90)
  argued,    // from documentation and from what the compiler uses it for; not compared with a card
  no_effect  // changes no value: reads and writes nothing that a launch could show
};

// `mnemonic`: a name and its modifiers, in groups: {.A|.B} is one of them, [.A|.B] one of them or none. The
// number of the choice is the instruction's `mode` of that group, 0 for the first of {} and for none of [].
//
// `syntax`: the operands in order, separated by blanks.
//   d   32-bit destination     D  64-bit destination, a register pair
//   p   predicate destination  p? the same, if it is there
//   q   predicate source
//   i   32-bit integer source  l  64-bit integer source
//   a   the same, or -x        L  the same, or -x
//   x   the same, or ~x
//   f   FP32 source            h  packed 16-bit source, two numbers if it is an immediate
//   n   number                 m  address in brackets
//   T   PT, and nothing else       F  !PT, and nothing else      z  SRZ, and nothing else
//   s   special register       b  convergence barrier    t  target
struct InstructionEntry {
  std::string_view mnemonic;
  std::string_view syntax;
  Execute execute;
  Control control;
  Proof proof;
  std::string_view semantics;
};

std::span<const InstructionEntry> instruction_table();

// Its parts, by what they work on.
std::span<const InstructionEntry> float_instructions();
std::span<const InstructionEntry> half_instructions();
std::span<const InstructionEntry> integer_instructions();
std::span<const InstructionEntry> move_instructions();
std::span<const InstructionEntry> memory_instructions();
std::span<const InstructionEntry> control_instructions();

}  // namespace bitproof::conformance::emulator
