#include "metrics/report/csv.h"

#include <iterator>
#include <string>

#include <fmt/format.h>
#include <fmt/ostream.h>

namespace bitproof::metrics {
namespace {

std::string number(const std::optional<double>& value) { return value ? fmt::format("{:.17g}", *value) : ""; }

}  // namespace

void CsvReport::on_start(const Outcome& outcome) {
  for (const MetricResult& metric : outcome.metrics)
    fmt::print(out_, "# {}: {}\n", metric.entry->name, metric.definition.text);
}

void CsvReport::write_header(const Outcome& outcome, const PairResult& first) {
  std::string header = "frame_a,frame_b,identical,squared_error,mean_squared_error,sha256_a,sha256_b";
  for (std::size_t i = 0; i < first.metrics.size(); ++i) {
    for (const Score& score : first.metrics[i].scores) {
      header += fmt::format(",{}.{}", outcome.metrics[i].entry->name, score.key);
      if (score.one_minus) header += fmt::format(",{}.one_minus_{}", outcome.metrics[i].entry->name, score.key);
    }
  }
  out_ << header << '\n';
  header_ = true;
}

void CsvReport::on_pair(const Outcome& outcome, const PairResult& result, const FramePair&) {
  if (!header_) write_header(outcome, result);
  std::string line = fmt::format(
      "{},{},{},{},{:.17g},{},{}", result.index_a, result.index_b, result.identical ? "true" : "false",
      result.squared_error ? std::to_string(*result.squared_error) : "", result.mean_squared_error,
      result.digest_a ? result.digest_a->hex() : "", result.digest_b ? result.digest_b->hex() : "");
  for (const Summary& summary : result.metrics) {
    for (const Score& score : summary.scores) {
      fmt::format_to(std::back_inserter(line), ",{}", number(score.value));
      if (score.one_minus) fmt::format_to(std::back_inserter(line), ",{}", number(score.one_minus));
    }
  }
  out_ << line << '\n';
}

void CsvReport::on_finish(const Outcome& outcome) {
  for (const std::string& warning : outcome.warnings) fmt::print(out_, "# warning: {}\n", warning);
  for (const Failure& failure : outcome.failures) fmt::print(out_, "# failed: {}\n", failure.message);
  out_.flush();
}

}  // namespace bitproof::metrics
