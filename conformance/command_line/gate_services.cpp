#include "conformance/command_line/gate_services.h"

#include "conformance/elementwise/elementwise_plan.h"
#include "conformance/linear/plan.h"
#include "conformance/machine_code/keys.h"
#include "conformance/mlp/configuration.h"
#include "conformance/mlp/plan.h"
#include "conformance/runner/build_info.h"
#include "conformance/units/unit_plan.h"

namespace bitproof::conformance {

GateServices gate_services() {
  GateServices services;
  services.tree.machine_code_key = [](const Record& record) {
    if (record.op == kLinearGeluTanh)
      return linear_machine_code_key(record.implementation, record.architecture, record.library_version);
    if (record.op == kMlpGelu)
      return mlp_machine_code_key(record.implementation, record.architecture, record.library_version);
    return machine_code_key(record.implementation, record.architecture);
  };
  services.tree.expected_digest = [](const std::string& op, const std::string& dtype,
                                     const std::string& profile, const std::string& domain,
                                     std::uint64_t seed) {
    if (op.starts_with("unit.")) return expected_digest_of_unit(op, dtype, seed);
    if (op == kLinearGeluTanh) return expected_digest_of_linear(dtype, profile, domain, seed);
    return expected_digest_of_domain(op, dtype, profile, domain, seed);
  };
  services.expectations =
      std::filesystem::path(kSourceDirectory) / "fixtures/expectations/known_mismatches.json";
  return services;
}

}  // namespace bitproof::conformance
