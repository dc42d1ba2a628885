// Shards and machines into one report. The result does not depend on the order in which reports are added.
//
// Reports with one run id are the shards of one run. Their records add up when they have the same identity
// (operator, dtype, implementation, domain, architecture, profile, equality, evidence, machine code, seed,
// library version) and disjoint blocks. Records of the same blocks must agree in their digests and collapse
// into one; this holds across runs too, so that a second machine confirms the first. What does not fit together
// becomes a finding, never a guess.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "conformance/gate/finding.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

struct Merged {
  Report report;                  // one source per distinct report, records in the order of their labels
  std::vector<Finding> findings;  // shard_missing, shard_conflict, mixed_tool_builds, nondeterminism
};

class Merger {
 public:
  Merger();
  Merger(Merger&&) noexcept;
  Merger& operator=(Merger&&) noexcept;
  ~Merger();

  // A report with the same content as an earlier one changes nothing.
  void add(StoredReport report);
  Merged finish() &&;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

Merged merge(std::vector<Report> reports);

}  // namespace bitproof::conformance
