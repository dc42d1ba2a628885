// Decodes two inputs side by side and measures their frames pair by pair.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "metrics/compare/outcome.h"
#include "metrics/media/raw_format.h"
#include "metrics/metric/metric.h"

namespace bitproof::metrics {

enum class OnMismatch {
  error,  // formats that differ are not compared
  warn,   // what both have is compared, and the report says what that leaves out
};

struct IdentityLevels {
  bool file = true, stream = true, frame = true;  // pixels are always compared
};

struct SelectedMetric {
  const MetricEntry* entry;
  std::optional<double> threshold;
};

struct Request {
  std::array<std::filesystem::path, 2> inputs;
  std::array<std::optional<RawFormat>, 2> raw;
  std::int64_t offset = 0;    // frame i of A is compared with frame i + offset of B
  bool allow_prefix = false;  // different lengths are no failure
  bool require_identical = false;
  OnMismatch on_mismatch = OnMismatch::error;
  IdentityLevels levels;
  std::vector<SelectedMetric> metrics;
  MetricSettings settings;
  int threads = 2;        // 1: all on the caller's; otherwise one per input, each decoder having half of them
  std::size_t worst = 5;  // pairs to keep
};

// What reports see of a comparison while it runs.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void on_start(const Outcome&) {}  // inputs are open; formats, metrics and definitions are known
  virtual void on_pair(const Outcome&, const PairResult&, const FramePair&) {}
  virtual void on_finish(const Outcome&) {}  // always, once
};

Outcome compare(const Request& request, std::span<Observer* const> observers);

}  // namespace bitproof::metrics
