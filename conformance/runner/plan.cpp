#include "conformance/runner/plan.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fnmatch.h>

#include "conformance/elementwise/elementwise_plan.h"
#include "conformance/emulator/emulated_plan.h"
#include "conformance/linear/plan.h"
#include "conformance/mlp/plan.h"
#include "conformance/report/combine.h"
#include "conformance/units/unit_plan.h"

namespace bitproof::conformance {
namespace {

struct Criterion {
  const char* option;
  const std::optional<std::string>& glob;
  std::string Record::*field;
};

bool on_device(const Record& record, const std::string& device) {
  if (device == "all") return true;
  if (device == "cuda" || device == "emulated") return record.device.starts_with(device);
  // A machine without the device has one stand-in for all of them.
  return record.device == device || (record.device == "cuda" && device.starts_with("cuda:"));
}

Error nothing_matches(const char* option, const std::string& value, const std::vector<std::string>& known) {
  return {ErrorKind::bad_argument, "matches nothing", fmt::format("{} {}", option, value),
          fmt::format("use one of {}, or a glob", fmt::join(known, ", "))};
}

// "cuda:7"
bool is_gpu_number(const std::string& device) {
  constexpr std::string_view kPrefix = "cuda:";
  return device.starts_with(kPrefix) && device.size() > kPrefix.size() &&
         device.find_first_not_of("0123456789", kPrefix.size()) == std::string::npos;
}

// A GPU that is asked for by number and does not exist has the checks of the others, unavailable.
void add_missing_gpu(std::vector<PlannedCheck>& checks, const std::string& device) {
  const auto stands_for_it = [&](const PlannedCheck& check) { return on_device(check.record, device); };
  if (std::ranges::any_of(checks, stands_for_it)) return;
  const std::size_t known = checks.size();
  for (std::size_t i = 0; i < known; ++i) {
    if (checks[i].record.device != "cuda:0") continue;
    Record record = checks[i].record;
    record.device = device;
    checks.push_back(
        {std::move(record), {}, "no CUDA device " + device + "; see `./bitproof list` for those there are"});
  }
}

bool takes_minutes(const Record& record) { return record.domain == "pairs" && record.device == "cpu"; }

bool is_emulated(const Record& record) { return record.evidence == name(Evidence::emulated); }

}  // namespace

bool matches_glob(const std::string& glob, const std::string& text) {
  return fnmatch(glob.c_str(), text.c_str(), 0) == 0;
}

std::vector<std::string> distinct(const std::vector<PlannedCheck>& checks, std::string Record::*field) {
  std::vector<std::string> values;
  for (const PlannedCheck& check : checks)
    if (std::ranges::find(values, check.record.*field) == values.end()) values.push_back(check.record.*field);
  return values;
}

std::vector<PlannedCheck> all_checks(const reference::Profile& profile, std::uint64_t seed,
                                     const CudaDevices& devices) {
  std::vector<PlannedCheck> checks = plan_elementwise(profile, seed, devices.devices);
  for (PlannedCheck& check : plan_linear(profile, seed, devices.devices)) checks.push_back(std::move(check));
  for (PlannedCheck& check : plan_units(seed, devices.devices)) checks.push_back(std::move(check));
  for (PlannedCheck& check : plan_mlp(profile, seed, devices.devices)) checks.push_back(std::move(check));
  for (PlannedCheck& check : checks)
    if (!check.start && check.unavailable.empty()) check.unavailable = devices.none_because;
  for (PlannedCheck& check : plan_emulated(profile, seed)) checks.push_back(std::move(check));
  return checks;
}

Result<std::vector<PlannedCheck>> select(std::vector<PlannedCheck> checks, const Selection& selection) {
  const Criterion criteria[] = {{"--op", selection.op, &Record::op},
                                {"--dtype", selection.dtype, &Record::dtype},
                                {"--impl", selection.implementation, &Record::implementation},
                                {"--domain", selection.domain, &Record::domain}};
  for (const Criterion& criterion : criteria) {
    if (!criterion.glob) continue;
    const std::vector<std::string> known = distinct(checks, criterion.field);
    if (std::ranges::none_of(known,
                             [&](const std::string& name) { return matches_glob(*criterion.glob, name); }))
      return nothing_matches(criterion.option, *criterion.glob, known);
  }

  if (selection.device) {
    if (is_gpu_number(*selection.device)) add_missing_gpu(checks, *selection.device);
    std::erase_if(checks,
                  [&](const PlannedCheck& check) { return !on_device(check.record, *selection.device); });
    if (checks.empty())
      return Error{
          ErrorKind::bad_argument, "matches nothing", "--device " + *selection.device,
          "use one of cpu, cuda, cuda:N, emulated, emulated:sm_NN, all; see `./bitproof list` for the numbers"};
  }
  for (const Criterion& criterion : criteria)
    if (criterion.glob)
      std::erase_if(checks, [&](const PlannedCheck& check) {
        return !matches_glob(*criterion.glob, check.record.*criterion.field);
      });
  if (!selection.device && !selection.implementation)
    std::erase_if(checks, [](const PlannedCheck& check) { return is_emulated(check.record); });
  if (!selection.domain)
    std::erase_if(checks, [](const PlannedCheck& check) { return takes_minutes(check.record); });

  if (checks.empty())
    return Error{ErrorKind::bad_argument, "each option matches something, but no check matches all of them",
                 "--op, --dtype, --impl, --domain, --device", "see `./bitproof list` for what runs where"};
  return checks;
}

std::vector<PlannedCheck> shared_among_gpus(std::vector<PlannedCheck> checks) {
  std::vector<PlannedCheck> shared;
  for (PlannedCheck& check : checks) {
    const bool on_gpu = check.start && check.record.device.starts_with("cuda:");
    const auto same = std::ranges::find_if(shared, [&](const PlannedCheck& other) {
      return other.start && other.record.device.starts_with("cuda:") &&
             same_identity(other.record, check.record);
    });
    if (!on_gpu || same == shared.end()) {
      shared.push_back(std::move(check));
      continue;
    }
    if (same->devices.empty()) same->devices.push_back({same->record.device, same->start});
    same->devices.push_back({check.record.device, check.start});
    // Planned records differ in the device only, and combining them names both.
    same->record = *combine(same->record, check.record);
  }
  return shared;
}

}  // namespace bitproof::conformance
