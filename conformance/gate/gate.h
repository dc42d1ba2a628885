// The decision: reports, policy and expectations in, findings out. Pure; what it needs to know about the world
// is passed in. It trusts no verdict that it can derive itself, and whatever it does not know fails.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "conformance/gate/expectations.h"
#include "conformance/gate/finding.h"
#include "conformance/gate/merge.h"
#include "conformance/gate/policy.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

// What the gate asks of the tree that is about to be merged.
struct Tree {
  // The machine-code key that the tree's code for a record's operator, implementation, architecture and library
  // version has now; empty for an implementation without machine code of its own, such as the reference;
  // nullopt when the tree has no such thing or was built without it.
  std::function<std::optional<std::string>(const Record&)> machine_code_key;

  // The digest that the reference of the tree gives for the whole of a domain. Asked for `values`, `boundary`
  // and `pairs`; nullopt when it cannot tell.
  std::function<std::optional<std::uint64_t>(const std::string& op, const std::string& dtype,
                                             const std::string& profile, const std::string& domain,
                                             std::uint64_t seed)>
      expected_digest;
};

// How a required record was decided.
struct Outcome {
  enum class State { passed, waived, failed };
  Requirement requirement;
  State state = State::failed;
  std::optional<Record> record;  // the evidence, when there is one
  std::vector<Finding> findings;
};

struct GateResult {
  std::string policy;
  std::vector<Outcome> required;  // in the order of the policy
  std::vector<Finding> findings;  // all that make the gate red, those of `required` included
  std::vector<Finding> waived;    // found, and forgiven by the policy
  std::vector<CompiledOnly> compiled_only;
  std::vector<std::string> notes;  // worth saying, decides nothing
  Report evidence;                 // the merged report

  bool passed() const { return findings.empty(); }
};

// `merged` as Merger gives it; its findings become the gate's. `now` decides ages and waivers.
GateResult decide(Merged merged, const Policy& policy, const std::vector<Expectation>& expectations,
                  const Tree& tree, std::chrono::sys_seconds now);

}  // namespace bitproof::conformance
