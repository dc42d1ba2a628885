#include "conformance/mutants/test_subjects.h"

#include "conformance/elementwise/elementwise_plan.h"
#include "conformance/mutants/mutant.h"
#include "conformance/mutants/planted.h"

namespace bitproof::conformance {

bool names_test_subjects(std::string_view glob) {
  return glob.starts_with("mutant.") || glob.starts_with("planted.");
}

std::vector<PlannedCheck> plan_test_subjects(const reference::Profile& profile, std::uint64_t seed,
                                             const CudaDevices& devices,
                                             const std::optional<OneElement>& only) {
  std::vector<ElementwiseImplementation> subjects = planted_host_implementations();
  for (const FaultInfo& info : all_faults())
    if (info.shows == Shows::everywhere) subjects.push_back(host_mutant(info.fault));
  if (!devices.devices.empty()) {
    for (ElementwiseImplementation& planted : planted_device_implementations())
      subjects.push_back(std::move(planted));
    for (const FaultInfo& info : all_faults()) subjects.push_back(device_mutant(info.fault));
  }
  return plan_implementations(profile, seed, devices.devices, subjects, only);
}

}  // namespace bitproof::conformance
