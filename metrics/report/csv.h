// One line per pair (RFC 4180), for spreadsheets and plots. Lines that start with '#' carry definitions,
// warnings and failures. A field without a value is empty: infinite when the line says identical, else not
// applicable.
#pragma once

#include <ostream>

#include "metrics/compare/comparison.h"

namespace bitproof::metrics {

class CsvReport final : public Observer {
 public:
  explicit CsvReport(std::ostream& out) : out_(out) {}

  void on_start(const Outcome& outcome) override;
  void on_pair(const Outcome& outcome, const PairResult& result, const FramePair& pair) override;
  void on_finish(const Outcome& outcome) override;

 private:
  void write_header(const Outcome& outcome, const PairResult& first);

  std::ostream& out_;
  bool header_ = false;
};

}  // namespace bitproof::metrics
