// Which rows of the architecture table multiply NVFP4 in their tensor cores.
#pragma once

#include "kernels/architecture.h"

namespace bitproof::kernels {

// From 10.0 on (PTX ISA, "mma" and "tcgen05.mma", .block_scale with .e2m1 and .ue4m3).
constexpr bool has_native_nvfp4(const ArchitectureTraits& traits) { return traits.compute_capability >= 100; }

}  // namespace bitproof::kernels
