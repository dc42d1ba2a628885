#include "conformance/command_line/record_table.h"

#include <array>
#include <map>
#include <string>

#include <fmt/format.h>

#include "conformance/command_line/terminal.h"
#include "conformance/gate/expectations.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

Ink colour_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::bit_exact:
    case Verdict::within_contract:
      return Ink::green;
    case Verdict::mismatch:
    case Verdict::refused:
    case Verdict::error:
      return Ink::red;
    case Verdict::known_mismatch:
    case Verdict::not_run:
      return Ink::yellow;
  }
  return Ink::none;
}

constexpr auto kRow = "{:<16} {:<5} {:<17} {:<15} {:<15} {:>32} {:>10} {:>8}  {}\n";

std::string coverage(const Record& record) {
  const std::string unit = record.unit.substr(0, record.unit.find(','));
  return fmt::format("{}/{} {}{}", record.tested, record.total, unit, record.sampled ? " (sample)" : "");
}

void print_counterexample(const Record& record) {
  const Counterexample& first = *record.first;
  fmt::print("\n{}: {}; profile {}{}\n", coloured(label(record), colour_of(record.verdict), stdout),
             differences(record), record.profile,
             record.verdict == Verdict::known_mismatch ? ", as expected: " + record.reason : "");
  fmt::print("  first      {}\n", what(first));
  if (first.is_of_an_element()) {
    fmt::print("  expected   {} ({:.9g})\n", first.expected, first.expected_value);
    fmt::print("  got        {} ({:.9g}), {}, {} ULP\n", first.got, first.got_value, first.kind, first.ulp);
    if (!first.parts_at.empty()) fmt::print("  parts at   {}\n", first.parts_at);
  } else {
    fmt::print("  expected   {}\n  got        {}, {}\n", first.expected, first.got, first.kind);
  }
  fmt::print("  where      {}; {}\n", where(first), first.layout);
  if (!first.diagnosis.empty()) fmt::print("  diagnosis  {}\n", first.diagnosis);
  fmt::print("  reproduce  {}\n", first.reproduce);
  if (first.smallest) fmt::print("  smallest   {}\n", in_words(*first.smallest));
  if (first.smallest && !first.smallest->reproduce.empty())
    fmt::print("             {}\n", first.smallest->reproduce);
  const KindCounts& kinds = record.kinds;
  fmt::print("  by kind    value {}, sign of zero {}, NaN bits {}, unwritten {}, out of bounds {}\n",
             kinds.value, kinds.zero_sign, kinds.nan_bits, kinds.unwritten, kinds.out_of_bounds);
  for (const Cause& cause : record.causes)
    fmt::print("  because    {}: {} ({:.4f} % of them), first {}: expected {}, got {}\n", cause.name,
               cause.count, 100.0 * static_cast<double>(cause.count) / static_cast<double>(record.mismatches),
               what(cause.first), cause.first.expected, cause.first.got);
}

}  // namespace

void print_table_header() {
  fmt::print(kRow, "operator", "dtype", "implementation", "domain", "device", "tested/total", "mismatches",
             "seconds", "verdict");
}

void print_table_row(const Record& record, std::string_view profile) {
  // What no device here can run is one line at the end, not many here.
  if (record.verdict == Verdict::not_run && record.tested == 0) return;
  const std::string of_profile = record.profile == profile ? "" : "  (profile " + record.profile + ")";
  fmt::print(kRow, record.op, record.dtype, record.implementation, record.domain, record.device,
             coverage(record), record.mismatches, fmt::format("{:.2f}", record.seconds),
             coloured(name(record.verdict), colour_of(record.verdict), stdout) + of_profile);
  std::fflush(stdout);
}

void print_findings(const std::vector<Record>& records) {
  for (const Record& record : records) {
    if (record.first) {
      print_counterexample(record);
    } else if (record.verdict == Verdict::mismatch) {
      fmt::print("\n{}: {}\n", coloured(label(record), Ink::red, stdout), differences(record));
    } else if (record.verdict == Verdict::error || record.verdict == Verdict::refused) {
      fmt::print("\n{}: {}: {}\n", label(record), coloured(name(record.verdict), Ink::red, stdout),
                 record.reason);
    }
  }
  // One line for the many records of an absent device.
  std::map<std::string, std::size_t> not_run;
  for (const Record& record : records)
    if (record.verdict == Verdict::not_run) ++not_run[record.reason];
  if (!not_run.empty()) fmt::print("\n");
  for (const auto& [reason, count] : not_run)
    fmt::print("{}: {} records: {}\n", coloured("not_run", Ink::yellow, stdout), count, reason);
}

void print_models(const std::vector<Record>& records) {
  for (const Record& record : records)
    for (const LibraryAlgorithm& model : record.algorithms)
      fmt::print("\n{}: {}\n  in {} of its shapes, {} the first\n", label(record), model.description,
                 model.shapes.size(), model.shapes.front());
}

void print_contradictions(const std::vector<Record>& records, const std::vector<Expectation>& expectations) {
  for (const Record& record : records) {
    const Expectation* const expectation = find_expectation(expectations, record);
    if (expectation == nullptr || !contradicts(record, expectations)) continue;
    fmt::print(
        "\n{}: {} mismatches, but {} others are expected ({}); commit a new expectation if that is meant\n",
        coloured(label(record), Ink::red, stdout), record.mismatches, expectation->kinds.total(),
        expectation->reason);
  }
}

void print_summary(const Report& report, const std::filesystem::path& path) {
  std::array<std::size_t, 7> counts{};
  for (const Record& record : report.records) ++counts[static_cast<std::size_t>(record.verdict)];
  std::string text;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], name(static_cast<Verdict>(i)));
  fmt::print("\n{} records against profile {}: {}\nreport: {}\n", report.records.size(), report.profile, text,
             path.string());
}

}  // namespace bitproof::conformance
