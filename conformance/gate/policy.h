// What a merge requires: which evidence, how fresh, which verdicts. JSON with comments
// (conformance/policy.schema.json, commented example in fixtures/policies/example.jsonc).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/record.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

// One record that must be there: a line of the cross product that a policy's "required" entries span.
struct Requirement {
  std::string op, dtype, implementation, domain, architecture;
  std::string profile;
  std::string equality = "bitwise";
  std::string evidence = "executed";  // the weakest kind that will do: name(Evidence)
  std::uint64_t minimum_tested =
      1;                        // the domain itself must be that large; coverage of it must always be complete
  std::vector<Verdict> accept;  // bit_exact unless the policy says otherwise
  bool operator==(const Requirement&) const = default;
};

// "bias_gelu_tanh bf16 cuda.fused pairs sm_90", as label() of a record.
std::string label(const Requirement& requirement);

// Built for, but without a card to run on: printed, never counted as a pass.
struct CompiledOnly {
  std::string architecture;
  std::string reason;
};

// Forgives one kind of finding of one record until a day. Unused or expired, it is a finding itself.
struct Waiver {
  std::string op, dtype, implementation, domain, architecture;
  std::string finding;  // name(FindingKind)
  std::string reason;
  std::string owner;
  std::chrono::year_month_day expires;  // the last day on which it holds, UTC
};

std::string label(const Waiver& waiver);

struct Policy {
  std::string name;
  std::vector<Requirement> required;  // no two of one label and profile
  std::vector<CompiledOnly> compiled_only;
  std::vector<Waiver> waivers;
  std::optional<std::chrono::days> maximum_age;  // of the evidence
  bool require_mutation_score =
      false;  // a report with a mutation score must be there; one below 100 % always fails
};

// Errors name file, place and remedy. Unknown keys are errors: a misspelt requirement would require nothing.
Result<Policy> load_policy(const std::filesystem::path& file);
Result<Policy> parse_policy(std::string_view text, const std::string& source);

}  // namespace bitproof::conformance
