// A reason why a gate is red.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bitproof::conformance {

enum class FindingKind {
  missing,   // no report has anything of this architecture or implementation
  vanished,  // the reports have its siblings, but no longer this record
  not_run,
  refused,
  error,
  no_coverage,       // nothing tested
  partial_coverage,  // not every input, or a smaller domain than the policy demands
  mismatch,
  verdict_not_accepted,  // within_contract or known_mismatch where the policy does not name it
  contradiction,         // the record's numbers do not support its verdict
  mismatches_grew,       // against the committed expectation
  mismatches_shrank,
  mismatches_vanished,
  mismatches_changed,
  wrong_profile,
  wrong_equality,
  wrong_evidence,  // weaker than the policy requires
  too_old,
  stale_machine_code,
  stale_reference,
  nondeterminism,  // the same inputs, other outputs
  unreadable,
  unsupported_schema,
  mixed_tool_builds,
  shard_missing,
  shard_conflict,  // overlapping or foreign shards
  mutation_score,
  waiver_expired,
  waiver_unused,
};

std::string_view name(FindingKind kind);
std::optional<FindingKind> parse_finding_kind(std::string_view text);

struct Finding {
  FindingKind kind = FindingKind::missing;
  std::string record;   // label of the record, or the report, run or waiver it is about
  std::string message;  // what is wrong and what to do, one line
  bool operator==(const Finding&) const = default;
};

}  // namespace bitproof::conformance
