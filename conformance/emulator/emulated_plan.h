// The checks that emulate machine code: every operator, dtype, architecture and family of kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "conformance/check.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// Implementations "emulated.fused" and "emulated.baseline" on devices "emulated:sm_80" and so on, over `values`,
// `boundary`, `random`, `layout` and `pairs_sample`; "emulated.eager" over the first two, and on sm_90 `random`.
// Their records have evidence "emulated" and the machine-code key of the code that is emulated.
std::vector<PlannedCheck> plan_emulated(const reference::Profile& profile, std::uint64_t seed);

}  // namespace bitproof::conformance
