// The compact form of one SASS instruction that the emulator executes: decoded once from the text of nvdisasm.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace bitproof::conformance::emulator {

struct Warp;
struct Instruction;

enum class OperandKind : std::uint8_t {
  none,  // an optional operand that is not there
  vector_register,
  uniform_register,
  predicate,
  uniform_predicate,
  barrier,
  special_register,
  immediate,
  constant,  // of bank 0
  address,   // [vector register pair + offset]
  target,    // of a branch
};

// The registers that read as zero, and the predicates that read as true; writes to them are lost.
inline constexpr std::uint16_t kZeroRegister = 255;
inline constexpr std::uint16_t kTruePredicate = 7;

// Which halves of a packed operand the two lanes of the operation read.
enum class HalfSelect : std::uint8_t { both, low, high };  // H1_H0, H0_H0, H1_H1

struct Operand {
  OperandKind kind = OperandKind::none;
  bool negate = false;    // -x; of a predicate, !p
  bool absolute = false;  // |x|, before negate
  bool invert = false;    // ~x
  HalfSelect half = HalfSelect::both;
  std::uint16_t index = 0;  // register, predicate, barrier or special register
  std::int64_t value = 0;   // immediate's bits, byte offset of a constant or an address, target's address
};

// What the warp's scheduler does itself; everything else is `none` and has an `execute`.
enum class Control : std::uint8_t {
  none,
  branch,
  branch_if,  // on a predicate operand, besides the guard
  exit,
  open_region,   // BSSY: the active lanes will wait for each other
  close_region,  // BSYNC: where they do
  call,
  return_relative,  // to the function's start plus a register pair
};

using Execute = void (*)(Warp&, const Instruction&, std::uint32_t mask);

inline constexpr std::size_t kMaxOperands = 9;
inline constexpr std::size_t kMaxModes = 4;
inline constexpr std::uint32_t kInstructionBytes = 16;

struct Instruction {
  Execute execute = nullptr;
  Control control = Control::none;
  std::array<std::uint8_t, kMaxModes> mode{};    // which of its choices each modifier group of the mnemonic has
  Operand guard;                                 // @P0, @!UP1; none for unconditional
  std::array<Operand, kMaxOperands> operands{};  // by position in the syntax of the table
  std::uint32_t target = 0;                      // index of the instruction a branch goes to
  std::uint32_t address = 0;                     // bytes from the start of its section
  std::uint32_t entry = 0;                       // row of the instruction table
  std::string text;                              // as nvdisasm prints it, for findings
};

}  // namespace bitproof::conformance::emulator
