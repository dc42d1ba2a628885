// Runs a decoded kernel over a grid, warp by warp. Kernels whose warps wait for each other are not supported:
// their barriers have no row in the instruction table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "conformance/emulator/global_memory.h"
#include "conformance/emulator/program.h"

namespace bitproof::conformance::emulator {

struct Geometry {
  std::array<std::uint32_t, 3> grid{1, 1, 1}, block{1, 1, 1};
};

// `parameters` are the kernel's, laid out as its ABI wants them: one after the other, each aligned to its size.
// Throws CodeFault and Unsupported, with the instruction.
void launch(const Program& program, const Geometry& geometry, std::span<const std::byte> parameters,
            GlobalMemory& memory);

}  // namespace bitproof::conformance::emulator
