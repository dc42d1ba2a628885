// Moves, selections, constants and special registers.
#include <array>
#include <bit>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/instruction_table.h"
#include "conformance/emulator/special_registers.h"
#include "conformance/emulator/warp.h"

namespace bitproof::conformance::emulator {
namespace {

Lanes copy_of(const Source& source) {
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = source[lane];
  return out;
}

template <int kWords>
void move(Warp& warp, const Instruction& in, std::uint32_t mask) {
  std::array<Lanes, kWords> words;  // all read before any is written: the registers may overlap
  for (int i = 0; i < kWords; ++i)
    words[static_cast<std::size_t>(i)] = copy_of(Source(warp, in.operands[1], i));
  for (int i = 0; i < kWords; ++i) warp.write(in.operands[0], words[static_cast<std::size_t>(i)], mask, i);
}

template <int kWords>
void select(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const std::uint32_t first = warp.predicate(in.operands[3]);
  std::array<Lanes, kWords> words;
  for (int i = 0; i < kWords; ++i) {
    const Source a(warp, in.operands[1], i), b(warp, in.operands[2], i);
    for (int lane = 0; lane < kLanes; ++lane)
      words[static_cast<std::size_t>(i)][lane] = (first >> lane & 1) != 0 ? a[lane] : b[lane];
  }
  for (int i = 0; i < kWords; ++i) warp.write(in.operands[0], words[static_cast<std::size_t>(i)], mask, i);
}

void to_uniform(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Source a(warp, in.operands[1]);
  const std::uint32_t value = a[std::countr_zero(mask)];
  for (int lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0 && a[lane] != value)
      throw CodeFault("the lanes of a value that becomes uniform differ");
  Lanes out;
  out.values.fill(value);
  warp.write(in.operands[0], out, mask);
}

void special(Warp& warp, const Instruction& in, std::uint32_t mask) {
  warp.write(in.operands[0], read_special(warp, static_cast<SpecialRegister>(in.operands[1].index)), mask);
}

void zero_pair(Warp& warp, const Instruction& in, std::uint32_t mask) {
  warp.write(in.operands[0], Lanes{}, mask, 0);
  warp.write(in.operands[0], Lanes{}, mask, 1);
}

constexpr std::string_view kMove = "a copy";
constexpr std::string_view kSelect = "q ? a : b; PTX selp";
constexpr std::string_view kConstant = "words of constant bank 0; PTX ld.param";

constexpr std::array kEntries{
    InstructionEntry{"MOV", "d i", move<1>, Control::none, Proof::card, kMove},
    InstructionEntry{"UMOV", "d i", move<1>, Control::none, Proof::card, kMove},
    InstructionEntry{"MOV.64", "D l", move<2>, Control::none, Proof::argued, kMove},
    InstructionEntry{"UMOV.64", "D l", move<2>, Control::none, Proof::argued, kMove},
    InstructionEntry{"R2UR", "d i", to_uniform, Control::none, Proof::argued,
                     "to a uniform register; a finding unless all lanes agree"},
    InstructionEntry{"SEL", "d i i q", select<1>, Control::none, Proof::card, kSelect},
    InstructionEntry{"USEL", "d i i q", select<1>, Control::none, Proof::card, kSelect},
    InstructionEntry{"SEL.64", "D l l q", select<2>, Control::none, Proof::argued, kSelect},
    InstructionEntry{"USEL.64", "D l l q", select<2>, Control::none, Proof::argued, kSelect},
    InstructionEntry{"LDC", "d i", move<1>, Control::none, Proof::card, kConstant},
    InstructionEntry{"LDC.64", "D l", move<2>, Control::none, Proof::card, kConstant},
    InstructionEntry{"ULDC", "d i", move<1>, Control::none, Proof::card, kConstant},
    InstructionEntry{"ULDC.64", "D l", move<2>, Control::none, Proof::card, kConstant},
    InstructionEntry{"LDCU", "d i", move<1>, Control::none, Proof::argued, kConstant},
    InstructionEntry{"LDCU.64", "D l", move<2>, Control::none, Proof::argued, kConstant},
    InstructionEntry{"LDCU.128", "D l", move<4>, Control::none, Proof::argued, kConstant},
    InstructionEntry{"CS2R", "D z", zero_pair, Control::none, Proof::card,
                     "zero to a register pair; no other source is known"},
    InstructionEntry{"S2R", "d s", special, Control::none, Proof::card,
                     "threadIdx, blockIdx, lane; PTX %tid, %ctaid"},
    InstructionEntry{"S2UR", "d s", special, Control::none, Proof::card, "blockIdx; PTX %ctaid"},
};

}  // namespace

std::span<const InstructionEntry> move_instructions() { return kEntries; }

}  // namespace bitproof::conformance::emulator
