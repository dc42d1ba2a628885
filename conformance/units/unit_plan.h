// The checks of the unit fingerprint: operators unit.*, implementation cuda.unit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "conformance/check.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/units/unit_functions.h"

namespace bitproof::conformance {

std::vector<PlannedCheck> plan_units(std::uint64_t seed, const std::vector<CudaDevice>& devices);

// The digest that the CPU model gives for a whole unit function; nothing for what is none.
std::optional<std::uint64_t> expected_digest_of_unit(std::string_view op, std::string_view dtype,
                                                     std::uint64_t seed);

// A check on CUDA device `device_id`. Only in builds with CUDA.
std::unique_ptr<Check> make_unit_check(const UnitFunction& function, Record identity, int device_id);

}  // namespace bitproof::conformance
