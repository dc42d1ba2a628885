// The checks of operator mlp_gelu.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/check.h"
#include "conformance/device/cuda_devices.h"
#include "reference/profile.h"

namespace bitproof::conformance {

std::vector<PlannedCheck> plan_mlp(const reference::Profile& profile, std::uint64_t seed,
                                   const std::vector<CudaDevice>& devices);

// The key of what an implementation of the MLP runs on an architecture: on a GPU the GEMMs as linear + GELU has
// them, the version of their library included, and the MLP's own kernels; on the CPU the fused kernel. Nothing
// where this build has none.
std::optional<std::string> mlp_machine_code_key(std::string_view implementation, std::string_view architecture,
                                                std::string_view library_version);

}  // namespace bitproof::conformance
