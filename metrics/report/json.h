// The report for machines: strict JSON (RFC 8259), one row per pair written as it is measured. Numbers keep 17
// significant digits; what is infinite or not applicable is null, with the reason under the same key plus
// "_reason".
#pragma once

#include <ostream>

#include "metrics/compare/comparison.h"

namespace bitproof::metrics {

class JsonReport final : public Observer {
 public:
  explicit JsonReport(std::ostream& out) : out_(out) {}

  void on_pair(const Outcome& outcome, const PairResult& result, const FramePair& pair) override;
  void on_finish(const Outcome& outcome) override;

 private:
  std::ostream& out_;
  bool open_ = false;  // the list of rows has begun
};

}  // namespace bitproof::metrics
