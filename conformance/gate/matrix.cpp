#include "conformance/gate/matrix.h"

#include <algorithm>
#include <compare>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace bitproof::conformance {
namespace {

// Rows and columns in the order of their first appearance.
template <class T>
class Grid {
 public:
  T& at(const std::string& row, const std::string& column) {
    remember(rows, row);
    remember(columns, column);
    return cells_[{row, column}];
  }
  const T* find(const std::string& row, const std::string& column) const {
    const auto found = cells_.find({row, column});
    return found == cells_.end() ? nullptr : &found->second;
  }
  void add_column(const std::string& column) { remember(columns, column); }

  std::vector<std::string> rows, columns;

 private:
  static void remember(std::vector<std::string>& names, const std::string& name) {
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  std::map<std::pair<std::string, std::string>, T> cells_;
};

template <class T, class ToCell>
Matrix to_matrix(const Grid<T>& grid, const ToCell& to_cell) {
  Matrix matrix{grid.columns, {}};
  for (const std::string& row : grid.rows) {
    matrix.rows.push_back({row, {}});
    for (const std::string& column : grid.columns)
      matrix.rows.back().cells.push_back(to_cell(grid.find(row, column), column));
  }
  return matrix;
}

struct Tally {
  int passed = 0, waived = 0, failed = 0;
  std::map<std::string, int> not_executed{};  // of those that passed or are waived, by kind of evidence
};

// "pass 3/3 emulated" where all are, "pass 3/3, 2 emulated" where some are.
std::string pass_text(const Tally& tally) {
  const int good = tally.passed + tally.waived, all = good + tally.failed;
  std::string text = fmt::format("pass {}/{}", good, all);
  for (const auto& [evidence, count] : tally.not_executed)
    text += count == all ? " " + evidence : fmt::format(", {} {}", count, evidence);
  return text;
}

Cell to_cell(const Tally& tally) {
  const int good = tally.passed + tally.waived, all = good + tally.failed;
  if (tally.failed > 0) return {Tone::bad, fmt::format("FAIL {}/{}", good, all)};
  if (tally.waived > 0) return {Tone::waived, fmt::format("{}, {} waived", pass_text(tally), tally.waived)};
  return {Tone::good, pass_text(tally)};
}

// What did not run is a gap among what did.
Tone worse(Tone a, Tone b) {
  if (a == Tone::bad || b == Tone::bad) return Tone::bad;
  return a == Tone::good && b == Tone::good ? Tone::good : Tone::waived;
}

// What is not executed is counted, and printed, apart.
struct Kind {
  Verdict verdict;
  std::string evidence;
  auto operator<=>(const Kind&) const = default;
};
using Verdicts = std::map<Kind, int>;

Cell to_cell(const Verdicts& verdicts) {
  Cell cell{Tone::good, ""};
  for (const auto& [kind, count] : verdicts) {
    cell.text += fmt::format("{}{} {}{}", cell.text.empty() ? "" : ", ", count, name(kind.verdict),
                             kind.evidence == name(Evidence::executed) ? "" : " " + kind.evidence);
    cell.tone = worse(cell.tone, tone_of(kind.verdict));
  }
  const bool nothing_ran =
      std::ranges::all_of(verdicts, [](const auto& entry) { return entry.first.verdict == Verdict::not_run; });
  if (nothing_ran) cell.tone = Tone::none;
  return cell;
}

}  // namespace

Tone tone_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::bit_exact:
    case Verdict::within_contract:
      return Tone::good;
    case Verdict::known_mismatch:
    case Verdict::refused:
      return Tone::waived;
    case Verdict::not_run:
      return Tone::none;
    case Verdict::mismatch:
    case Verdict::error:
      return Tone::bad;
  }
  return Tone::bad;
}

Matrix matrix_of(const GateResult& result) {
  Grid<Tally> grid;
  for (const Outcome& outcome : result.required) {
    const Requirement& r = outcome.requirement;
    Tally& tally = grid.at(r.op + " " + r.dtype, r.architecture);
    const bool counts = outcome.state != Outcome::State::failed && outcome.record.has_value();
    if (counts && outcome.record->evidence != name(Evidence::executed))
      ++tally.not_executed[outcome.record->evidence];
    switch (outcome.state) {
      case Outcome::State::passed:
        ++tally.passed;
        break;
      case Outcome::State::waived:
        ++tally.waived;
        break;
      case Outcome::State::failed:
        ++tally.failed;
        break;
    }
  }
  for (const CompiledOnly& entry : result.compiled_only) grid.add_column(entry.architecture);
  return to_matrix(grid, [&](const Tally* tally, const std::string& column) {
    if (tally != nullptr) return to_cell(*tally);
    const bool compiled = std::ranges::find(result.compiled_only, column, &CompiledOnly::architecture) !=
                          result.compiled_only.end();
    return compiled ? Cell{Tone::none, "compiled only"} : Cell{};
  });
}

Matrix matrix_of(const Report& report) {
  Grid<Verdicts> grid;
  for (const Record& record : report.records)
    ++grid.at(record.op + " " + record.dtype, record.architecture)[{record.verdict, record.evidence}];
  return to_matrix(grid, [](const Verdicts* verdicts, const std::string&) {
    return verdicts != nullptr ? to_cell(*verdicts) : Cell{};
  });
}

}  // namespace bitproof::conformance
