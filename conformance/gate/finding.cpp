#include "conformance/gate/finding.h"

#include <algorithm>
#include <iterator>

namespace bitproof::conformance {
namespace {

struct KindName {
  FindingKind kind;
  std::string_view name;
};
constexpr KindName kKindNames[] = {
    {FindingKind::missing, "missing"},
    {FindingKind::vanished, "vanished"},
    {FindingKind::not_run, "not_run"},
    {FindingKind::refused, "refused"},
    {FindingKind::error, "error"},
    {FindingKind::no_coverage, "no_coverage"},
    {FindingKind::partial_coverage, "partial_coverage"},
    {FindingKind::mismatch, "mismatch"},
    {FindingKind::verdict_not_accepted, "verdict_not_accepted"},
    {FindingKind::contradiction, "contradiction"},
    {FindingKind::mismatches_grew, "mismatches_grew"},
    {FindingKind::mismatches_shrank, "mismatches_shrank"},
    {FindingKind::mismatches_vanished, "mismatches_vanished"},
    {FindingKind::mismatches_changed, "mismatches_changed"},
    {FindingKind::wrong_profile, "wrong_profile"},
    {FindingKind::wrong_equality, "wrong_equality"},
    {FindingKind::wrong_evidence, "wrong_evidence"},
    {FindingKind::too_old, "too_old"},
    {FindingKind::stale_machine_code, "stale_machine_code"},
    {FindingKind::stale_reference, "stale_reference"},
    {FindingKind::nondeterminism, "nondeterminism"},
    {FindingKind::unreadable, "unreadable"},
    {FindingKind::unsupported_schema, "unsupported_schema"},
    {FindingKind::mixed_tool_builds, "mixed_tool_builds"},
    {FindingKind::shard_missing, "shard_missing"},
    {FindingKind::shard_conflict, "shard_conflict"},
    {FindingKind::mutation_score, "mutation_score"},
    {FindingKind::waiver_expired, "waiver_expired"},
    {FindingKind::waiver_unused, "waiver_unused"},
};

}  // namespace

std::string_view name(FindingKind kind) {
  const auto* entry = std::ranges::find(kKindNames, kind, &KindName::kind);
  return entry != std::end(kKindNames) ? entry->name : "unknown";
}

std::optional<FindingKind> parse_finding_kind(std::string_view text) {
  const auto* entry = std::ranges::find(kKindNames, text, &KindName::name);
  if (entry == std::end(kKindNames)) return std::nullopt;
  return entry->kind;
}

}  // namespace bitproof::conformance
