#include "conformance/report/record.h"

#include <algorithm>

#include <fmt/format.h>

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

struct EvidenceName {
  Evidence evidence;
  std::string_view name;
};
constexpr EvidenceName kEvidenceNames[] = {
    {Evidence::compiled, "compiled"},
    {Evidence::audited, "audited"},
    {Evidence::emulated, "emulated"},
    {Evidence::executed, "executed"},
};

// Of an access out of bounds, which has no inputs, the place.
std::string inputs_or(const std::string& place, const std::vector<std::string>& inputs) {
  return inputs.empty() ? place : fmt::format("{}", fmt::join(inputs, ", "));
}

}  // namespace

std::string_view name(Evidence evidence) {
  return std::ranges::find(kEvidenceNames, evidence, &EvidenceName::evidence)->name;
}

std::optional<Evidence> parse_evidence(std::string_view text) {
  const auto* entry = std::ranges::find(kEvidenceNames, text, &EvidenceName::name);
  if (entry == std::end(kEvidenceNames)) return std::nullopt;
  return entry->evidence;
}

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

std::string what(const Counterexample& example) { return inputs_or(example.parts_at, example.inputs); }

std::string where(const Counterexample& example) {
  if (!example.is_of_an_element()) return fmt::format("a [{}, {}] tensor", example.rows, example.width);
  return fmt::format("row {} of {}, column {} of {}, lane {} of its vector", example.row, example.rows,
                     example.column, example.width, example.vector_lane);
}

std::string in_words(const SmallestCase& smallest) {
  return fmt::format("[{}, {}], {}: expected {}, got {}", smallest.rows, smallest.width,
                     inputs_or(smallest.place, smallest.inputs), smallest.expected, smallest.got);
}

std::string differences(const Record& record) {
  const std::uint64_t accesses = record.kinds.out_of_bounds, elements = record.mismatches - accesses;
  std::string text;
  // A case has many elements, any of which may differ.
  if (elements > 0)
    text = fmt::format("{} {} {} {} differ", elements, record.unit == "cases" ? "elements in" : "of",
                       record.tested, record.unit);
  if (accesses > 0)
    text += fmt::format("{}{} access{} out of bounds", text.empty() ? "" : ", ", accesses,
                        accesses == 1 ? "" : "es");
  return text;
}

}  // namespace bitproof::conformance
