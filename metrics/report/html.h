// One self-contained page: verdict, levels of identity, curves per frame, the worst frames side by side with
// where they differ, metadata, definitions. No script, nothing fetched.
#pragma once

#include <ostream>
#include <vector>

#include "metrics/compare/comparison.h"
#include "metrics/report/curve.h"
#include "metrics/report/picture.h"

namespace bitproof::metrics {

class HtmlReport final : public Observer {
 public:
  explicit HtmlReport(std::ostream& out, std::size_t pictures = 3) : out_(out), most_pictures_(pictures) {}

  void on_start(const Outcome& outcome) override;
  void on_pair(const Outcome& outcome, const PairResult& result, const FramePair& pair) override;
  void on_finish(const Outcome& outcome) override;

 private:
  struct Drawn {
    std::uint64_t index;
    double mean_squared_error;
    Pictures pictures;
  };

  std::ostream& out_;
  std::size_t most_pictures_;
  std::vector<Curve> curves_;  // of the metrics' headlines
  std::vector<Drawn> drawn_;   // worst first
};

}  // namespace bitproof::metrics
