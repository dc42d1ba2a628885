// Which checks a run performs: all that this build knows, narrowed by what the user asked for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "conformance/check.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/report/result.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// Names or globs; nothing means no restriction.
struct Selection {
  std::optional<std::string> op, dtype, implementation, domain;
  std::optional<std::string> device;  // cpu, cuda, cuda:N, emulated, emulated:sm_NN, all
};

// Every check of every operator family.
std::vector<PlannedCheck> all_checks(const reference::Profile& profile, std::uint64_t seed,
                                     const CudaDevices& devices);

// The checks that match. Without a device and an implementation, the emulated checks are left out: other
// architectures than those of this machine are checked where that is asked for. Without a domain, the pairs of
// host implementations are left out: they take minutes, and pairs_factored proves the same of the reference in
// seconds. The error names what matched nothing, and what there is.
Result<std::vector<PlannedCheck>> select(std::vector<PlannedCheck> checks, const Selection& selection);

// Checks of one identity on several GPUs become one, whose blocks these share: the record names all of them.
std::vector<PlannedCheck> shared_among_gpus(std::vector<PlannedCheck> checks);

// Distinct values of one field of the checks' records, in order of first appearance.
std::vector<std::string> distinct(const std::vector<PlannedCheck>& checks, std::string Record::*field);

// Shell pattern: * ? [...].
bool matches_glob(const std::string& glob, const std::string& text);

}  // namespace bitproof::conformance
