// What the warp's scheduler executes itself (launch.cpp), and what has no effect that a launch could show.
#include <array>
#include <vector>

#include "conformance/emulator/instruction_table.h"

namespace bitproof::conformance::emulator {
namespace {

void nothing(Warp&, const Instruction&, std::uint32_t) {}

constexpr std::array kEntries{
    InstructionEntry{"BRA", "t", nullptr, Control::branch, Proof::card, "lanes whose guard holds go to t"},
    InstructionEntry{"BRA", "q t", nullptr, Control::branch_if, Proof::card,
                     "lanes whose guard and whose q hold go to t"},
    InstructionEntry{"BRA.U", "q t", nullptr, Control::branch_if, Proof::argued, "all lanes go to t if q"},
    InstructionEntry{"EXIT", "", nullptr, Control::exit, Proof::card, "lanes whose guard holds end"},
    InstructionEntry{"BSSY[.RECONVERGENT]", "b t", nullptr, Control::open_region, Proof::card,
                     "the active lanes will wait for each other at the BSYNC of b"},
    InstructionEntry{"BSYNC[.RECONVERGENT]", "b", nullptr, Control::close_region, Proof::card,
                     "waits for the lanes of the BSSY of b that have not ended"},
    InstructionEntry{"CALL.REL.NOINC", "t", nullptr, Control::call, Proof::card,
                     "goes to t; the code has put the return address into a register"},
    InstructionEntry{"RET.REL.NODEC", "l t", nullptr, Control::return_relative, Proof::card,
                     "goes to the start of t plus a"},
    InstructionEntry{"NOP", "", nothing, Control::none, Proof::no_effect, "nothing"},
    InstructionEntry{"ACQBULK", "", nothing, Control::none, Proof::no_effect,
                     "waits for the kernels ahead, which have ended here; PTX griddepcontrol.wait"},
    InstructionEntry{
        "PREEXIT", "", nothing, Control::none, Proof::no_effect,
        "lets the next kernel start, which starts later here; PTX griddepcontrol.launch_dependents"},
};

}  // namespace

std::span<const InstructionEntry> control_instructions() { return kEntries; }

std::span<const InstructionEntry> instruction_table() {
  static const std::vector<InstructionEntry> table = [] {
    std::vector<InstructionEntry> rows;
    for (const auto part : {float_instructions(), half_instructions(), integer_instructions(),
                            move_instructions(), memory_instructions(), control_instructions()})
      rows.insert(rows.end(), part.begin(), part.end());
    return rows;
  }();
  return table;
}

}  // namespace bitproof::conformance::emulator
