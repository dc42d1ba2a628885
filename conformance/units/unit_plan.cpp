#include "conformance/units/unit_plan.h"

#include "conformance/machine_code/keys.h"

namespace bitproof::conformance {
namespace {

// The profile of records that no framework's choices enter: the truth is the CPU model of the instruction.
constexpr std::string_view kUnitProfile = "unit-model-1";

Record identity(const UnitFunction& function, const std::string& device, const std::string& architecture,
                std::uint64_t seed) {
  Record record;
  record.op = function.op;
  record.dtype = function.dtype;
  record.implementation = "cuda.unit";
  record.domain = function.domain;
  record.device = device;
  record.architecture = architecture;
  record.profile = kUnitProfile;
  record.equality = "bitwise";
  record.evidence = "executed";
  record.machine_code_key = machine_code_key("cuda.unit", architecture).value_or("");
  record.seed = seed;
  record.total = kUnitInputs;
  record.unit = function.domain == "pairs" ? "pairs" : "values";
  record.blocks_total = kUnitBlocks;
  return record;
}

}  // namespace

std::vector<PlannedCheck> plan_units(std::uint64_t seed, const std::vector<CudaDevice>& devices) {
  std::vector<PlannedCheck> plan;
  for (const UnitFunction& function : kUnitFunctions) {
    for (const CudaDevice& device : devices) {
      const Record record = identity(function, device.label(), device.facts.architecture, seed);
      plan.push_back(
          {record, [function, record, id = device.id] { return make_unit_check(function, record, id); }, {}});
    }
    if (devices.empty()) plan.push_back({identity(function, "cuda", "cuda", seed), {}, {}});
  }
  return plan;
}

std::optional<std::uint64_t> expected_digest_of_unit(std::string_view op, std::string_view dtype,
                                                     std::uint64_t seed) {
  for (const UnitFunction& function : kUnitFunctions)
    if (function.op == op && function.dtype == dtype)
      return unit_reference_digest(function.unit, 0, kUnitInputs, seed);
  return std::nullopt;
}

}  // namespace bitproof::conformance
