#include <fmt/format.h>

#include "conformance/gate/matrix.h"
#include "conformance/gate/outputs.h"
#include "conformance/gate/text.h"

namespace bitproof::conformance {
namespace {

// Longest cell of a table; a message beyond it is cut, since the log has it whole.
constexpr std::size_t kCellLimit = 400;
// Room for the last lines, which count what was left out.
constexpr std::size_t kReserve = 1024;

// Text in a table cell: no markup, no line ends, no mentions of people.
std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text.substr(0, kCellLimit)) {
    switch (c) {
      case '|':
        out += "\\|";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '&':
        out += "&amp;";
        break;
      case '@':
        out += "&#64;";
        break;
      case '\n':
      case '\r':
        out += ' ';
        break;
      case '*':
      case '_':
      case '`':
      case '[':
      case ']':
      case '\\':
      case '~':
      case '#':
        out += '\\';
        [[fallthrough]];
      default:
        out += c;
    }
  }
  // Not in the middle of a character of several bytes.
  if (text.size() > kCellLimit) {
    while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xC0) == 0x80) out.pop_back();
    if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xC0) out.pop_back();
    out += "...";
  }
  return out;
}

// Adds rows while they fit, and says how many did not.
class Table {
 public:
  Table(std::string& text, std::size_t limit, std::string_view header) : text_(text), limit_(limit) {
    text_ += header;
  }
  void add(const std::string& row) {
    if (left_out_ > 0 || text_.size() + row.size() > limit_) {
      ++left_out_;
    } else {
      text_ += row;
    }
  }
  void finish() {
    if (left_out_ > 0) text_ += fmt::format("\n... and {} more, in the log and the JUnit file.\n", left_out_);
    text_ += '\n';
  }

 private:
  std::string& text_;
  std::size_t limit_;
  std::size_t left_out_ = 0;
};

void add_findings(std::string& text, std::string_view title, const std::vector<Finding>& findings,
                  std::size_t limit) {
  if (findings.empty()) return;
  Table table(text, limit, fmt::format("### {}\n\n| kind | what and what to do |\n|---|---|\n", title));
  for (const Finding& finding : findings)
    table.add(fmt::format("| {} | {} |\n", escaped(name(finding.kind)), escaped(finding.message)));
  table.finish();
}

const char* mark(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "✅ ";
    case Tone::waived:
      return "⚠️ ";
    case Tone::bad:
      return "❌ ";
    case Tone::none:
      return "";
  }
  return "";
}

void add_matrix(std::string& text, const Matrix& matrix, std::size_t limit) {
  std::string header = "| |";
  std::string rule = "\n|---|";
  for (const std::string& column : matrix.columns) {
    header += fmt::format(" {} |", escaped(column));
    rule += "---|";
  }
  Table table(text, limit, header + rule + "\n");
  for (const Matrix::Row& row : matrix.rows) {
    std::string line = fmt::format("| {} |", escaped(row.name));
    for (const Cell& cell : row.cells) line += fmt::format(" {}{} |", mark(cell.tone), escaped(cell.text));
    table.add(line + "\n");
  }
  table.finish();
}

void add_required(std::string& text, const GateResult& result, std::size_t limit) {
  Table table(text, limit,
              fmt::format("<details><summary>{} required records</summary>\n\n"
                          "| record | verdict | coverage | time |\n|---|---|---|---|\n",
                          result.required.size()));
  for (const Outcome& outcome : result.required) {
    const Tone tone = outcome.state == Outcome::State::passed   ? Tone::good
                      : outcome.state == Outcome::State::waived ? Tone::waived
                                                                : Tone::bad;
    const auto& record = outcome.record;
    table.add(fmt::format("| {}{} | {} | {} | {} |\n", mark(tone), escaped(label(outcome.requirement)),
                          record ? escaped(verdict_of(*record)) : "none",
                          record ? escaped(coverage_of(*record)) : "", record ? timing_of(*record) : ""));
  }
  table.finish();
  text += "</details>\n\n";
}

}  // namespace

std::string to_markdown(const GateResult& result) {
  // Each part may fill what is left to its share, so that a thousand findings do not hide the matrix.
  std::string text =
      fmt::format("## {} bitproof gate: {}\n\n", result.passed() ? "✅" : "❌", escaped(result.policy));
  text += result.passed() ? fmt::format("All {} required records passed.\n\n", result.required.size())
                          : fmt::format("{} findings.\n\n", result.findings.size());
  add_matrix(text, matrix_of(result), kMarkdownLimit / 4);
  add_findings(text, "Findings", result.findings, kMarkdownLimit * 3 / 4);
  add_findings(text, "Waived", result.waived, kMarkdownLimit * 7 / 8);
  std::string compiled;
  for (const CompiledOnly& entry : result.compiled_only)
    compiled += fmt::format("{}{} ({})", compiled.empty() ? "" : ", ", escaped(entry.architecture),
                            escaped(entry.reason));
  if (!compiled.empty() && compiled.size() < kMarkdownLimit / 16)
    text += fmt::format("Compiled only, not counted as a pass: {}.\n\n", compiled);
  add_required(text, result, kMarkdownLimit - kReserve);
  return text;
}

}  // namespace bitproof::conformance
