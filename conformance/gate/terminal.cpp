#include <algorithm>

#include <fmt/format.h>

#include "conformance/gate/bit_layout.h"
#include "conformance/gate/matrix.h"
#include "conformance/gate/outputs.h"
#include "conformance/gate/text.h"

namespace bitproof::conformance {
namespace {

const char* code_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "32";
    case Tone::waived:
      return "33";
    case Tone::bad:
      return "31";
    case Tone::none:
      return "2";
  }
  return "0";
}

std::string painted(const std::string& text, Tone tone, Colour colour) {
  return colour == Colour::off ? text : fmt::format("\x1b[{}m{}\x1b[0m", code_of(tone), text);
}

// Columns as wide as their widest cell. The last one is not padded, so that lines have no trailing blanks.
std::string to_text(const std::vector<std::vector<Cell>>& rows, Colour colour) {
  std::vector<std::size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].text.size());
  }
  std::string text;
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      text += row[i].tone == Tone::none ? row[i].text : painted(row[i].text, row[i].tone, colour);
      if (i + 1 < row.size()) text += std::string(widths[i] - row[i].text.size() + 2, ' ');
    }
    text += '\n';
  }
  return text;
}

Cell plain(std::string text) { return {Tone::none, std::move(text)}; }

std::string to_text(const Matrix& matrix, Colour colour) {
  std::vector<std::vector<Cell>> rows{{plain("")}};
  for (const std::string& column : matrix.columns) rows.front().push_back(plain(column));
  for (const Matrix::Row& row : matrix.rows) {
    rows.push_back({plain(row.name)});
    rows.back().insert(rows.back().end(), row.cells.begin(), row.cells.end());
  }
  return to_text(rows, colour);
}

// A cause often has a hundred findings, all alike; so many of each kind keep the reasons on one screen.
constexpr std::size_t kShownOfAKind = 8;

std::string list(const std::string& title, const std::vector<Finding>& findings, Tone tone, Colour colour) {
  if (findings.empty()) return "";
  std::string text = "\n" + title + "\n";
  std::vector<FindingKind> kinds;  // by first appearance
  for (const Finding& finding : findings)
    if (std::ranges::find(kinds, finding.kind) == kinds.end()) kinds.push_back(finding.kind);
  for (const FindingKind kind : kinds) {
    std::size_t count = 0;
    for (const Finding& finding : findings) {
      if (finding.kind != kind || ++count > kShownOfAKind) continue;
      text += fmt::format("  {}  {}\n", painted(std::string{name(kind)}, tone, colour), finding.message);
    }
    if (count > kShownOfAKind)
      text += fmt::format("  {}  {} more; --json, --junit and --markdown have them\n",
                          painted(std::string{name(kind)}, tone, colour), count - kShownOfAKind);
  }
  return text;
}

std::string describe(const Environment& environment) {
  std::string text = fmt::format("bitproof {} (build {}), started {}\n{}: {}; {}; {}\n",
                                 environment.tool_version, environment.tool_build, environment.started,
                                 environment.host, environment.cpu, environment.os, environment.toolchain);
  for (const Device& device : environment.devices)
    text += fmt::format("{} ({}): driver {}, CUDA {}, cuBLASLt {}\n", device.name, device.architecture,
                        device.driver, device.cuda_runtime, device.cublaslt);
  return text;
}

// Expected over got, in their fields.
std::string bits_of(const Record& record) {
  const std::optional<BitLayout> layout = layout_of(record.dtype);
  if (!layout) return "";
  const auto expected = fields_of(record.first->expected, *layout), got = fields_of(record.first->got, *layout);
  if (!expected || !got) return "";
  const auto line = [](const char* what, const BitFields& f) {
    return fmt::format("      {:<9} {} {} {}\n", what, f.sign, f.exponent, f.significand);
  };
  return line("expected", *expected) + line("got", *got);
}

std::string describe(const Record& record) {
  const Counterexample& c = *record.first;
  std::string text = fmt::format("  {}: {} ({})",
                                 record.op + " " + record.dtype + " " + record.implementation + " " +
                                     record.domain + " " + record.architecture,
                                 differences(record), kinds_of(record.kinds));
  if (c.is_of_an_element()) {
    text += fmt::format(", largest distance {} ULP\n", record.max_ulp);
    text += fmt::format("    {}: expected {} ({}), got {} ({}), {} ULP\n", what(c), c.expected,
                        value_of(c.expected_value), c.got, value_of(c.got_value), c.ulp);
    text += bits_of(record);
  } else {
    text += fmt::format("\n    {}: expected {}, got {}\n", what(c), c.expected, c.got);
  }
  text += fmt::format("    at {}{}{}\n", where(c), c.layout.empty() ? "" : ", " + c.layout,
                      c.parts_at.empty() || !c.is_of_an_element() ? "" : "; they part at: " + c.parts_at);
  if (!c.diagnosis.empty()) text += fmt::format("    {}\n", c.diagnosis);
  if (!c.reproduce.empty()) text += fmt::format("    {}\n", c.reproduce);
  if (c.smallest)
    text += fmt::format("    smallest: {}\n",
                        c.smallest->reproduce.empty() ? in_words(*c.smallest) : c.smallest->reproduce);
  return text;
}

}  // namespace

std::string to_terminal(const GateResult& result, Colour colour) {
  std::string text = fmt::format("policy: {}\n\n", result.policy) + to_text(matrix_of(result), colour);
  text += list("findings:", result.findings, Tone::bad, colour);
  text += list("waived:", result.waived, Tone::waived, colour);
  if (!result.compiled_only.empty()) text += "\ncompiled only, not counted as a pass:\n";
  for (const CompiledOnly& entry : result.compiled_only)
    text += fmt::format("  {}  {}\n", entry.architecture, entry.reason);
  if (!result.notes.empty()) text += "\nnotes:\n";
  for (const std::string& note : result.notes) text += fmt::format("  {}\n", note);

  const auto passed = std::ranges::count(result.required, Outcome::State::passed, &Outcome::state);
  const auto waived = std::ranges::count(result.required, Outcome::State::waived, &Outcome::state);
  text += fmt::format(
      "\n{}: {} of {} required records passed{}, {} findings\n",
      result.passed() ? painted("PASSED", Tone::good, colour) : painted("FAILED", Tone::bad, colour), passed,
      result.required.size(), waived > 0 ? fmt::format(", {} waived", waived) : "", result.findings.size());
  return text;
}

std::string to_terminal(const Report& report, Colour colour) {
  std::string text = describe(report.environment);
  text += fmt::format("profile {}, seed {}, run {}", report.profile, report.seed, report.run_id);
  if (report.shard.count > 1)
    text += fmt::format(", shard {} (a part of every domain only)", name(report.shard));
  if (!report.sources.empty()) text += fmt::format(", merged from {} reports", report.sources.size());
  if (const auto& score = report.mutation_score) text += fmt::format("\n{}", in_words(*score));
  text += "\n\n" + to_text(matrix_of(report), colour) + "\n";

  std::vector<std::vector<Cell>> rows;
  std::string wrong;
  for (const Record& record : report.records) {
    rows.push_back({plain(record.op),
                    plain(record.dtype),
                    plain(record.implementation),
                    plain(record.domain),
                    plain(record.device),
                    {tone_of(record.verdict), verdict_of(record)},
                    plain(coverage_of(record)),
                    plain(record.reason.empty() ? timing_of(record) : record.reason)});
    if (record.first) wrong += describe(record);
  }
  text += to_text(rows, colour);
  if (!wrong.empty()) text += "\nfirst counterexamples:\n" + wrong;
  return text;
}

}  // namespace bitproof::conformance
