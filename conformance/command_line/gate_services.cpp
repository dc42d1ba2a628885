#include "conformance/command_line/gate_services.h"

#include "conformance/elementwise/elementwise_plan.h"
#include "conformance/machine_code/keys.h"
#include "conformance/runner/build_info.h"
#include "conformance/units/unit_plan.h"

namespace bitproof::conformance {

GateServices gate_services() {
  GateServices services;
  services.tree.machine_code_key = [](const std::string& implementation, const std::string& architecture) {
    return machine_code_key(implementation, architecture);
  };
  services.tree.expected_digest = [](const std::string& op, const std::string& dtype,
                                     const std::string& profile, const std::string& domain,
                                     std::uint64_t seed) {
    if (op.starts_with("unit.")) return expected_digest_of_unit(op, dtype, seed);
    return expected_digest_of_domain(op, dtype, profile, domain, seed);
  };
  services.expectations =
      std::filesystem::path(kSourceDirectory) / "fixtures/expectations/known_mismatches.json";
  return services;
}

}  // namespace bitproof::conformance
