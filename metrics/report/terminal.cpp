#include "metrics/report/terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iterator>

#include <fmt/format.h>
#include <unistd.h>

#include "metrics/report/text.h"

namespace bitproof::metrics {
namespace {

class Writer {
 public:
  explicit Writer(bool colour) : colour_(colour) {}

  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }
  std::string paint(const char* code, const std::string& text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  std::string take() { return std::move(text_); }

 private:
  bool colour_;
  std::string text_;
};

constexpr const char* kBold = "1";
constexpr const char* kDim = "2";
constexpr const char* kRed = "31";
constexpr const char* kGreen = "32";
constexpr const char* kYellow = "33";

const char* colour_of(Verdict verdict) {
  return verdict == Verdict::identical ? kGreen : verdict == Verdict::different ? kYellow : kRed;
}

std::string upper(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), [](unsigned char c) { return std::toupper(c); });
  return result;
}

std::string count_of(const std::optional<std::uint64_t>& frames) {
  return frames ? std::to_string(*frames) : "unknown";
}

void write_inputs(Writer& out, const Outcome& outcome) {
  for (std::size_t side = 0; side < 2; ++side) {
    out.line("{}  {}", side == 0 ? 'A' : 'B', outcome.inputs[side].path);
    if (outcome.formats[side]) out.line("   {}", out.paint(kDim, outcome.formats[side]->describe()));
  }
  out.line("");
}

void write_identity(Writer& out, const Outcome& outcome) {
  constexpr std::size_t kDigits = 16;  // enough to see that two differ; --json has all of them
  const char* title = "identity";
  for (const LevelRow& row : level_rows(outcome)) {
    std::string line = fmt::format("{:<10}{:<8}{}", title, row.name, row.result);
    if (!row.a.empty() && row.a == row.b) line += fmt::format("  {}", row.a.substr(0, kDigits));
    if (!row.a.empty() && !row.b.empty() && row.a != row.b)
      line += fmt::format("  A {}  B {}", row.a.substr(0, kDigits), row.b.substr(0, kDigits));
    out.line("{}", line);
    title = "";
  }
  if (outcome.first_difference) out.line("{:<10}{:<8}first at {}", "", "", show(*outcome.first_difference));
  out.line("");
}

void write_metrics(Writer& out, const Outcome& outcome) {
  for (const MetricResult& metric : outcome.metrics) {
    if (metric.summary.scores.empty()) continue;
    std::string line = fmt::format("{:<10}", metric.entry->title);
    if (metric.entry->title.size() > 9) line += "  ";
    for (const Score& score : metric.summary.scores) {
      std::string text = fmt::format("{} {}", score.key, show_with_unit(score, metric.entry->unit));
      line += fmt::format("{}   ", score.key == metric.entry->headline ? out.paint(kBold, text) : text);
    }
    for (const Count& count : metric.summary.counts) line += fmt::format("{} {}   ", count.key, count.value);
    line.erase(line.find_last_not_of(' ') + 1);
    out.line("{}", line);
  }
  out.line("");
}

void write_worst(Writer& out, const Outcome& outcome) {
  if (outcome.worst.empty()) return;
  std::string header = fmt::format("{:<10}{:>8}{:>20}", "worst", "frame", "squared error");
  for (const MetricResult& metric : outcome.metrics) header += fmt::format("{:>24}", metric.entry->title);
  out.line("{}", header);
  for (const PairResult& pair : outcome.worst) {
    std::string line = fmt::format("{:<10}{:>8}{:>20}", "", pair.index_a, show_error(pair));
    for (std::size_t i = 0; i < pair.metrics.size(); ++i) {
      const MetricEntry& entry = *outcome.metrics[i].entry;
      const Score* score = pair.metrics[i].find(entry.headline);
      line += fmt::format("{:>24}", score == nullptr ? "" : show_with_unit(*score, entry.unit));
    }
    out.line("{}", line);
  }
  out.line("");
}

void write_metadata(Writer& out, const Outcome& outcome) {
  if (outcome.metadata_differences.empty()) return;
  out.line("metadata differences (reported, never applied)");
  for (const MetadataDifference& difference : outcome.metadata_differences)
    out.line("{:<10}{}: A {}, B {}", "", difference.name, difference.a, difference.b);
  out.line("");
}

}  // namespace

std::string terminal_report(const Outcome& outcome, bool colour) {
  Writer out(colour);
  write_inputs(out, outcome);
  const Verdict verdict = outcome.verdict();
  out.line("{:<10}{}  {}", "verdict", out.paint(colour_of(verdict), upper(name(verdict))), headline(outcome));
  out.line("{:<10}A {}   B {}   compared {}{}", "frames", count_of(outcome.frames[0]),
           count_of(outcome.frames[1]), outcome.compared,
           outcome.offset == 0 ? "" : fmt::format("   offset {}", outcome.offset));
  out.line("");
  write_identity(out, outcome);
  write_metrics(out, outcome);
  write_worst(out, outcome);
  write_metadata(out, outcome);
  for (const MetricResult& metric : outcome.metrics)
    if (!metric.definition.text.empty())
      out.line("{}", out.paint(kDim, fmt::format("{}: {}", metric.entry->name, metric.definition.text)));
  for (const std::string& warning : outcome.warnings)
    out.line("{} {}", out.paint(kYellow, "warning:"), warning);
  for (const Failure& failure : outcome.failures)
    out.line("{} {}", out.paint(kRed, "failed:"), failure.message);
  return out.take();
}

void ProgressBar::on_start(const Outcome&) { begin_ = Clock::now(); }

void ProgressBar::on_pair(const Outcome& outcome, const PairResult&, const FramePair&) {
  constexpr std::chrono::milliseconds kEvery(100);
  constexpr std::uint64_t kWidth = 30;
  const Clock::time_point now = Clock::now();
  if (now - drawn_ < kEvery) return;
  drawn_ = now;
  const double rate =
      static_cast<double>(outcome.compared) / std::chrono::duration<double>(now - begin_).count();
  const std::optional<std::uint64_t> total = outcome.inputs[0].frames_stated;
  if (total && *total > 0) {
    const std::uint64_t filled = std::min(kWidth, kWidth * outcome.compared / *total);
    fmt::print(stderr, "\r[{:<{}}] {}/{} frames, {:.1f} frames/s  ", std::string(filled, '#'), kWidth,
               outcome.compared, *total, rate);
  } else {
    fmt::print(stderr, "\r{} frames, {:.1f} frames/s  ", outcome.compared, rate);
  }
  std::fflush(stderr);
}

void ProgressBar::on_finish(const Outcome&) {
  if (drawn_ == Clock::time_point{}) return;
  fmt::print(stderr, "\r{:<80}\r", "");
  std::fflush(stderr);
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

bool wants_colour(int descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return is_terminal(descriptor) && (no_colour == nullptr || *no_colour == '\0');
}

}  // namespace bitproof::metrics
