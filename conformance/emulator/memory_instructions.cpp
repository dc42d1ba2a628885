// Loads and stores of global memory, checked lane by lane.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "conformance/emulator/fault.h"
#include "conformance/emulator/instruction_table.h"
#include "conformance/emulator/warp.h"

namespace bitproof::conformance::emulator {
namespace {

using Addresses = std::array<std::uint64_t, kLanes>;

Addresses addresses_of(const Warp& warp, const Operand& operand) {
  Addresses addresses;
  addresses.fill(static_cast<std::uint64_t>(operand.value));
  if (operand.index == kZeroRegister) return addresses;
  const Lanes &low = warp.registers[operand.index], &high = warp.registers[operand.index + std::size_t{1}];
  for (int lane = 0; lane < kLanes; ++lane)
    addresses[static_cast<std::size_t>(lane)] += std::uint64_t{high[lane]} << 32 | low[lane];
  return addresses;
}

// The active lanes' first and last byte, and all their addresses' bits below `bytes`, in one pass. The last
// byte and not the one after it, which for the last address there is would be 0 and hide behind the other
// lanes'.
struct Extent {
  std::uint64_t first = ~std::uint64_t{0}, last = 0, misaligned = 0;
  std::uint64_t end() const { return last + 1; }
};

Extent extent_of(const Addresses& addresses, std::uint32_t mask, std::uint32_t bytes) {
  Extent extent;
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    extent.first = std::min(extent.first, addresses[lane]);
    extent.last = std::max(extent.last, addresses[lane] + (bytes - 1));
    extent.misaligned |= addresses[lane] % bytes;
  }
  return extent;
}

template <class Check>
void check_lanes(const Addresses& addresses, std::uint32_t mask, const Warp& warp, const Check& check) {
  for (std::size_t lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    const std::string wrong = check(addresses[lane]);
    if (wrong.empty()) continue;
    const auto number = static_cast<int>(lane);
    throw CodeFault(wrong + ", by thread (" + std::to_string(warp.thread[0][number]) + ", " +
                    std::to_string(warp.thread[1][number]) + ") of block (" + std::to_string(warp.block[0]) +
                    ", " + std::to_string(warp.block[1]) + ")");
  }
}

// In the order of the groups in the mnemonics.
struct Width {
  std::uint32_t bytes;
  bool sign_extended;
};
constexpr std::array<Width, 7> kLoadWidths{
    {{4, false}, {1, false}, {1, true}, {2, false}, {2, true}, {8, false}, {16, false}}};
constexpr std::array<Width, 5> kStoreWidths{{{4, false}, {1, false}, {2, false}, {8, false}, {16, false}}};
constexpr Width kWidest{32, false};

using Words = std::array<Lanes, 8>;

// Memory to words, lane by lane; lanes that are not active keep zeros.
void read_lanes(Warp& warp, const Addresses& addresses, std::uint32_t mask, std::uint32_t bytes, Words& words) {
  const Extent extent = extent_of(addresses, mask, bytes);
  if (extent.misaligned != 0 || !warp.memory->may_read_all(extent.first, extent.end()))
    check_lanes(addresses, mask, warp, [&](std::uint64_t at) { return warp.memory->check_read(at, bytes); });
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    std::array<std::uint32_t, 8> buffer{};
    std::memcpy(buffer.data(), reinterpret_cast<const void*>(addresses[static_cast<std::size_t>(lane)]), bytes);
    for (std::size_t i = 0; i < (bytes + 3) / 4; ++i) words[i][lane] = buffer[i];
  }
}

void write_lanes(Warp& warp, const Addresses& addresses, std::uint32_t mask, std::uint32_t bytes,
                 const Words& words) {
  const Extent extent = extent_of(addresses, mask, bytes);
  if (extent.misaligned != 0 || !warp.memory->may_write_all(extent.first, extent.end()))
    check_lanes(addresses, mask, warp, [&](std::uint64_t at) { return warp.memory->check_write(at, bytes); });
  for (int lane = 0; lane < kLanes; ++lane) {
    if ((mask >> lane & 1) == 0) continue;
    std::array<std::uint32_t, 8> buffer;
    for (std::size_t i = 0; i < (bytes + 3) / 4; ++i) buffer[i] = words[i][lane];
    const std::uint64_t address = addresses[static_cast<std::size_t>(lane)];
    std::memcpy(reinterpret_cast<void*>(address), buffer.data(), bytes);
    warp.memory->note_write(address, bytes);
  }
}

void ldg(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Width width = kLoadWidths[in.mode[1]];
  Words words;
  read_lanes(warp, addresses_of(warp, in.operands[1]), mask, width.bytes, words);
  if (width.sign_extended)
    for (int lane = 0; lane < kLanes; ++lane)
      words[0][lane] = static_cast<std::uint32_t>(width.bytes == 1 ? static_cast<std::int8_t>(words[0][lane])
                                                                   : static_cast<std::int16_t>(words[0][lane]));
  for (std::size_t i = 0; i < (width.bytes + 3) / 4; ++i)
    warp.write(in.operands[0], words[i], mask, static_cast<int>(i));
}

// The lower 16 bytes go to the register that is printed second.
void ldg_256(Warp& warp, const Instruction& in, std::uint32_t mask) {
  Words words;
  read_lanes(warp, addresses_of(warp, in.operands[2]), mask, kWidest.bytes, words);
  for (std::size_t i = 0; i < 4; ++i) {
    warp.write(in.operands[1], words[i], mask, static_cast<int>(i));
    warp.write(in.operands[0], words[i + 4], mask, static_cast<int>(i));
  }
}

void stg(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Width width = kStoreWidths[in.mode[1]];
  Words words;
  for (std::size_t i = 0; i < (width.bytes + 3) / 4; ++i) {
    const Source source(warp, in.operands[1], static_cast<int>(i));
    for (int lane = 0; lane < kLanes; ++lane) words[i][lane] = source[lane];
  }
  write_lanes(warp, addresses_of(warp, in.operands[0]), mask, width.bytes, words);
}

// The lower 16 bytes come from the register that is printed first.
void stg_256(Warp& warp, const Instruction& in, std::uint32_t mask) {
  Words words;
  for (std::size_t i = 0; i < 8; ++i) {
    const Source source(warp, in.operands[i < 4 ? 1 : 2], static_cast<int>(i % 4));
    for (int lane = 0; lane < kLanes; ++lane) words[i][lane] = source[lane];
  }
  write_lanes(warp, addresses_of(warp, in.operands[0]), mask, kWidest.bytes, words);
}

constexpr std::array kEntries{
    InstructionEntry{"LDG.E[.EF|.NA][.U8|.S8|.U16|.S16|.64|.128]", "d m", ldg, Control::none, Proof::card,
                     "1 to 16 bytes of global memory; the first modifier is a cache hint; PTX ld.global"},
    InstructionEntry{"LDG.E[.EF|.NA].ENL2.256", "d d m", ldg_256, Control::none, Proof::argued,
                     "32 bytes, the lower 16 to the second register; PTX ld.global.v8.b32"},
    InstructionEntry{"STG.E[.EF|.NA][.U8|.U16|.64|.128]", "m d", stg, Control::none, Proof::card,
                     "1 to 16 bytes to global memory; PTX st.global"},
    InstructionEntry{"STG.E[.EF|.NA].ENL2.256", "m d d", stg_256, Control::none, Proof::argued,
                     "32 bytes, the lower 16 from the first register; PTX st.global.v8.b32"},
};

}  // namespace

std::span<const InstructionEntry> memory_instructions() { return kEntries; }

}  // namespace bitproof::conformance::emulator
