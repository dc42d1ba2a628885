// The state of one warp of 32 lanes, and how instructions read and write it: 32 lanes at a time, as arrays that
// the compiler vectorises.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "conformance/emulator/constant_bank.h"
#include "conformance/emulator/global_memory.h"
#include "conformance/emulator/instruction.h"

namespace bitproof::conformance::emulator {

inline constexpr int kLanes = 32;
inline constexpr std::uint32_t kAllLanes = 0xFFFFFFFFu;

struct alignas(64) Lanes {
  std::array<std::uint32_t, kLanes> values;
  std::uint32_t& operator[](int lane) { return values[static_cast<std::size_t>(lane)]; }
  const std::uint32_t& operator[](int lane) const { return values[static_cast<std::size_t>(lane)]; }
};

struct Warp {
  std::array<Lanes, 256> registers;  // the last is RZ
  std::array<std::uint32_t, 256> uniform;
  // A bit per lane; of a uniform predicate all bits or none. The last is PT.
  std::array<std::uint32_t, 8> predicates;
  std::array<std::uint32_t, 8> uniform_predicates;
  std::array<Lanes, 4> thread;         // threadIdx.x, .y, .z and the lane
  std::array<std::uint32_t, 3> block;  // blockIdx
  const ConstantBank* constants = nullptr;
  GlobalMemory* memory = nullptr;

  std::uint32_t predicate(const Operand& operand) const {
    if (operand.kind == OperandKind::none) return kAllLanes;
    const std::uint32_t bits = operand.kind == OperandKind::uniform_predicate
                                   ? uniform_predicates[operand.index]
                                   : predicates[operand.index];
    return operand.negate ? ~bits : bits;
  }

  void write(const Operand& destination, const Lanes& result, std::uint32_t mask, int part = 0) {
    if (destination.index == kZeroRegister) return;
    const std::size_t index = destination.index + static_cast<std::size_t>(part);
    if (destination.kind == OperandKind::uniform_register) {
      uniform[index] = result[0];
      return;
    }
    Lanes& target = registers[index];
    if (mask == kAllLanes) {
      target = result;
      return;
    }
    for (int lane = 0; lane < kLanes; ++lane)
      target[lane] = (mask >> lane & 1) != 0 ? result[lane] : target[lane];
  }

  // `bits` has a bit per lane.
  void write_predicate(const Operand& destination, std::uint32_t bits, std::uint32_t mask) {
    if (destination.kind == OperandKind::none || destination.index == kTruePredicate) return;
    if (destination.kind == OperandKind::uniform_predicate) {
      uniform_predicates[destination.index] = (bits & 1) != 0 ? kAllLanes : 0;
      return;
    }
    std::uint32_t& target = predicates[destination.index];
    target = (target & ~mask) | (bits & mask);
  }
};

// One 32-bit source of an instruction for all lanes; signs and inversions are not applied. `part` 1 is the
// upper word of a 64-bit source.
class Source {
 public:
  Source(const Warp& warp, const Operand& operand, int part = 0) {
    const auto step = static_cast<std::size_t>(part);
    switch (operand.kind) {
      case OperandKind::vector_register:
        values_ =
            warp.registers[operand.index == kZeroRegister ? kZeroRegister : operand.index + step].values.data();
        break;
      case OperandKind::uniform_register:
        fill(operand.index == kZeroRegister ? 0 : warp.uniform[operand.index + step]);
        break;
      case OperandKind::constant:
        fill(warp.constants->word(static_cast<std::uint32_t>(operand.value) +
                                  static_cast<std::uint32_t>(4 * part)));
        break;
      default:
        fill(static_cast<std::uint32_t>(static_cast<std::uint64_t>(operand.value) >> (32 * part)));
    }
  }
  Source(const Source&) = delete;
  Source& operator=(const Source&) = delete;

  std::uint32_t operator[](int lane) const { return values_[lane]; }

 private:
  void fill(std::uint32_t value) {
    scratch_.values.fill(value);
    values_ = scratch_.values.data();
  }

  Lanes scratch_;
  const std::uint32_t* values_ = nullptr;
};

// A predicate per lane, 0 or 1, as one bit per lane.
inline std::uint32_t pack(const Lanes& flags) {
  std::uint32_t bits = 0;
  for (int lane = 0; lane < kLanes; ++lane) bits |= flags[lane] << lane;
  return bits;
}

// Of a mnemonic's group {.AND|.OR|.XOR}.
inline std::uint32_t combine_predicates(int operation, std::uint32_t a, std::uint32_t b) {
  return operation == 0 ? a & b : operation == 1 ? a | b : a ^ b;
}

}  // namespace bitproof::conformance::emulator
