// Mutants and planted faults as checks that `run` performs when it is asked for them by name.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "conformance/check.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/elementwise/one_element.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// "mutant.sum_not_rounded", "planted.*"
bool names_test_subjects(std::string_view implementation_glob);

std::vector<PlannedCheck> plan_test_subjects(const reference::Profile& profile, std::uint64_t seed,
                                             const CudaDevices& devices,
                                             const std::optional<OneElement>& only = {});

}  // namespace bitproof::conformance
