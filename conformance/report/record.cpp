#include "conformance/report/record.h"

#include <algorithm>

namespace bitproof::conformance {
namespace {

struct VerdictName {
  Verdict verdict;
  std::string_view name;
};
constexpr VerdictName kVerdictNames[] = {
    {Verdict::bit_exact, "bit_exact"},
    {Verdict::within_contract, "within_contract"},
    {Verdict::known_mismatch, "known_mismatch"},
    {Verdict::mismatch, "mismatch"},
    {Verdict::refused, "refused"},
    {Verdict::not_run, "not_run"},
    {Verdict::error, "error"},
};

}  // namespace

std::string_view name(Verdict verdict) {
  const auto* entry = std::ranges::find(kVerdictNames, verdict, &VerdictName::verdict);
  return entry != std::end(kVerdictNames) ? entry->name : "error";
}

std::optional<Verdict> parse_verdict(std::string_view text) {
  const auto* entry = std::ranges::find(kVerdictNames, text, &VerdictName::name);
  if (entry == std::end(kVerdictNames)) return std::nullopt;
  return entry->verdict;
}

KindCounts& KindCounts::operator+=(const KindCounts& other) {
  for (const KindField& field : kKindFields) this->*field.count += other.*field.count;
  return *this;
}

}  // namespace bitproof::conformance
