// The special registers that kernels read where they are in the grid from.
#pragma once

#include <optional>
#include <string_view>

#include "conformance/emulator/warp.h"

namespace bitproof::conformance::emulator {

enum class SpecialRegister : std::uint16_t { thread_x, thread_y, thread_z, lane, block_x, block_y, block_z };

inline constexpr std::array<std::string_view, 7> kSpecialRegisterNames{
    "SR_TID.X", "SR_TID.Y", "SR_TID.Z", "SR_LANEID", "SR_CTAID.X", "SR_CTAID.Y", "SR_CTAID.Z"};

inline Lanes read_special(const Warp& warp, SpecialRegister which) {
  const auto index = static_cast<std::size_t>(which);
  if (which <= SpecialRegister::lane) return warp.thread[index];
  Lanes out;
  out.values.fill(warp.block[index - static_cast<std::size_t>(SpecialRegister::block_x)]);
  return out;
}

}  // namespace bitproof::conformance::emulator
