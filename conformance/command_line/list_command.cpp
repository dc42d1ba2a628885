#include <algorithm>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/command_line/commands.h"
#include "conformance/foreign/request.h"
#include "conformance/machine_code/keys.h"
#include "conformance/runner/build_info.h"
#include "conformance/runner/plan.h"
#include "kernels/architecture.h"

namespace bitproof::conformance {
namespace {

struct Inventory {
  std::vector<PlannedCheck> checks;
  CudaDevices devices;
};

// The distinct values of `wanted` among the checks whose `field` is `value`.
std::vector<std::string> among(const std::vector<PlannedCheck>& checks, std::string Record::*field,
                               const std::string& value, std::string Record::*wanted) {
  std::vector<PlannedCheck> chosen;
  for (const PlannedCheck& check : checks)
    if (check.record.*field == value) chosen.push_back({check.record, {}, {}});
  return distinct(chosen, wanted);
}

// Architectures whose machine code can be executed here on the CPU, and why others cannot.
struct Emulated {
  std::vector<std::string> architectures;
  std::string none_because;
};

Emulated emulated(const Inventory& inventory) {
  Emulated found;
  for (const PlannedCheck& check : inventory.checks) {
    if (check.record.evidence != name(Evidence::emulated)) continue;
    const bool is_new =
        std::ranges::find(found.architectures, check.record.architecture) == found.architectures.end();
    if (check.start && is_new) found.architectures.push_back(check.record.architecture);
    if (!check.start) found.none_because = check.unavailable;
  }
  return found;
}

nlohmann::ordered_json as_json(const Inventory& inventory) {
  nlohmann::ordered_json json;
  for (const std::string& op : distinct(inventory.checks, &Record::op))
    json["operators"].push_back({{"name", op},
                                 {"dtypes", among(inventory.checks, &Record::op, op, &Record::dtype)},
                                 {"domains", among(inventory.checks, &Record::op, op, &Record::domain)}});
  for (const std::string& implementation : distinct(inventory.checks, &Record::implementation))
    json["implementations"].push_back(
        {{"name", implementation},
         {"operators", among(inventory.checks, &Record::implementation, implementation, &Record::op)}});
  json["contracts"] = nlohmann::ordered_json::parse(contracts_json());
  json["domains"] = distinct(inventory.checks, &Record::domain);
  json["devices"].push_back({{"name", "cpu"}, {"architecture", "x86_64"}});
  for (const CudaDevice& device : inventory.devices.devices)
    json["devices"].push_back(
        {{"name", device.label()}, {"model", device.facts.name}, {"architecture", device.facts.architecture}});
  if (inventory.devices.devices.empty()) json["no_cuda_device_because"] = inventory.devices.none_because;
  const Emulated on_cpu = emulated(inventory);
  for (const std::string& architecture : on_cpu.architectures)
    json["devices"].push_back({{"name", "emulated:" + architecture}, {"architecture", architecture}});
  if (on_cpu.architectures.empty()) json["no_emulated_device_because"] = on_cpu.none_because;
  json["architectures"] = nlohmann::ordered_json::array();
  std::set<std::string_view> architectures;
  for (const MachineCodeKey& entry : machine_code_keys()) architectures.insert(entry.architecture);
  for (const std::string_view architecture : architectures) {
    nlohmann::ordered_json keys;
    for (const MachineCodeKey& entry : machine_code_keys())
      if (entry.architecture == architecture) keys[std::string(entry.implementation)] = entry.key;
    json["architectures"].push_back({{"name", architecture},
                                     {"machine_code_key", architecture_key(architecture)},
                                     {"implementations", keys}});
  }
  return json;
}

void print_people(const Inventory& inventory) {
  fmt::print("operators\n");
  for (const std::string& op : distinct(inventory.checks, &Record::op))
    fmt::print("  {:<16} {}; domains {}\n", op,
               fmt::join(among(inventory.checks, &Record::op, op, &Record::dtype), ", "),
               fmt::join(among(inventory.checks, &Record::op, op, &Record::domain), ", "));
  fmt::print("\nimplementations\n");
  for (const std::string& implementation : distinct(inventory.checks, &Record::implementation))
    fmt::print("  {:<16} {}\n", implementation,
               fmt::join(among(inventory.checks, &Record::implementation, implementation, &Record::op), ", "));
  fmt::print("\ncontracts of `check`\n");
  for (const auto& contract : nlohmann::json::parse(contracts_json()))
    fmt::print("  {:<16} domains {}\n", contract.at("operator").get<std::string>(),
               fmt::join(contract.at("domains").get<std::vector<std::string>>(), ", "));
  fmt::print("\ndevices\n  cpu              x86_64\n");
  for (const CudaDevice& device : inventory.devices.devices)
    fmt::print("  {:<16} {} ({})\n", device.label(), device.facts.architecture, device.facts.name);
  if (inventory.devices.devices.empty()) fmt::print("  {}\n", inventory.devices.none_because);
  const Emulated on_cpu = emulated(inventory);
  for (const std::string& architecture : on_cpu.architectures)
    fmt::print("  {:<16} {} (its machine code, executed on the CPU)\n", "emulated:" + architecture,
               architecture);
  if (on_cpu.architectures.empty()) fmt::print("  {}\n", on_cpu.none_because);
  fmt::print("\nmachine-code keys\n");
  for (const MachineCodeKey& entry : machine_code_keys())
    fmt::print("  {:<8} {:<14} {}\n", entry.architecture, entry.implementation, entry.key);
}

}  // namespace

void add_list_command(CLI::App& app, int& status) {
  auto json = std::make_shared<bool>(false);
  CLI::App* command = app.add_subcommand("list", "Operators, implementations, domains, devices, architectures");
  command->add_flag("--json", *json, "JSON instead of tables");
  command->callback([json, &status] {
    Inventory inventory;
    inventory.devices = find_cuda_devices();
    inventory.checks = all_checks(reference::kPytorch211Cuda, 1, inventory.devices);
    *json ? fmt::print("{}\n", as_json(inventory).dump(2)) : print_people(inventory);
    status = 0;
  });
}

}  // namespace bitproof::conformance
