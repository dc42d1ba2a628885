// All checks of elementwise operators that this build knows.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/check.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/elementwise/implementation.h"
#include "conformance/elementwise/one_element.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// Every operator, dtype, implementation and domain, on the CPU and on each of `devices`; on a device called
// "cuda", unavailable, where there is none.
std::vector<PlannedCheck> plan_elementwise(const reference::Profile& profile, std::uint64_t seed,
                                           const std::vector<CudaDevice>& devices);

// The same of other implementations, which are no part of this build's own. With `only`, over domain "case"
// alone.
std::vector<PlannedCheck> plan_implementations(const reference::Profile& profile, std::uint64_t seed,
                                               const std::vector<CudaDevice>& devices,
                                               const std::vector<ElementwiseImplementation>& implementations,
                                               const std::optional<OneElement>& only = {});

// The record of a check before it ran, without implementation, device, architecture and machine-code key;
// evidence "executed".
Record planned_record(const ElementwiseOperator& op, reference::Dtype dtype, const reference::Profile& profile,
                      std::uint64_t seed, const ElementwiseDomain& domain);

// The digest that the reference gives for the whole of a domain, for those of which a record on one machine and
// on another have the same: nothing for `production` and `layout`, which depend on where they run.
std::optional<std::uint64_t> expected_digest_of_domain(std::string_view op, std::string_view dtype,
                                                       std::string_view profile, std::string_view domain,
                                                       std::uint64_t seed);

}  // namespace bitproof::conformance
