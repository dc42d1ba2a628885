// The table that people read on a terminal, and the progress bar while they wait.
#pragma once

#include <chrono>
#include <string>

#include "metrics/compare/comparison.h"

namespace bitproof::metrics {

// Colours only when `colour`.
std::string terminal_report(const Outcome& outcome, bool colour);

// On standard error, which is a terminal; leaves nothing behind.
class ProgressBar final : public Observer {
 public:
  void on_start(const Outcome& outcome) override;
  void on_pair(const Outcome& outcome, const PairResult& result, const FramePair& pair) override;
  void on_finish(const Outcome& outcome) override;

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin_ = Clock::now(), drawn_{};
};

// Standard output (1) or error (2) is a terminal, and NO_COLOR (no-color.org) is unset or empty.
bool wants_colour(int descriptor);
bool is_terminal(int descriptor);

}  // namespace bitproof::metrics
