#include <nlohmann/json.hpp>

#include "conformance/gate/outputs.h"
#include "conformance/gate/text.h"

namespace bitproof::conformance {
namespace {

using nlohmann::json;

json to_json(const std::vector<Finding>& findings) {
  json out = json::array();
  for (const Finding& finding : findings)
    out.push_back({{"record", finding.record}, {"kind", name(finding.kind)}, {"message", finding.message}});
  return out;
}

const char* name(Outcome::State state) {
  switch (state) {
    case Outcome::State::passed:
      return "passed";
    case Outcome::State::waived:
      return "waived";
    case Outcome::State::failed:
      return "failed";
  }
  return "failed";
}

}  // namespace

json to_json(const GateResult& result) {
  json required = json::array();
  for (const Outcome& outcome : result.required) {
    json entry = {{"record", label(outcome.requirement)}, {"state", name(outcome.state)}};
    if (outcome.record) {
      entry["verdict"] = name(outcome.record->verdict);
      entry["evidence"] = outcome.record->evidence;
      entry["tested"] = outcome.record->tested;
      entry["total"] = outcome.record->total;
    }
    required.push_back(std::move(entry));
  }
  json compiled_only = json::array();
  for (const CompiledOnly& entry : result.compiled_only)
    compiled_only.push_back({{"architecture", entry.architecture}, {"reason", entry.reason}});
  return {{"passed", result.passed()},
          {"policy", result.policy},
          {"findings", to_json(result.findings)},
          {"waived", to_json(result.waived)},
          {"required", std::move(required)},
          {"compiled_only", std::move(compiled_only)},
          {"notes", result.notes}};
}

}  // namespace bitproof::conformance
