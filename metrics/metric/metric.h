// What a metric is. A new one is a file of its own plus a line in registry.cpp; the command line, the reports
// and the readers know metrics only through this header.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "metrics/media/frame.h"
#include "metrics/pixels/plane_sums.h"
#include "metrics/result.h"

namespace bitproof::metrics {

// One number of a frame or a clip, or why there is none.
struct Score {
  std::string key;                   // "average", "all", a plane's name
  std::optional<double> value = {};  // empty: infinite or not applicable
  std::string reason = {};           // why there is no value
  std::optional<double> one_minus =
      {};             // for a similarity: 1 - value, with all its digits however close to 1 it is
  bool best = false;  // nothing differs, so any threshold is passed
};

struct Count {
  std::string key;
  std::uint64_t value;
};

struct Summary {
  std::vector<Score> scores;
  std::vector<Count> counts;

  const Score* find(std::string_view key) const;
};

// Two frames of one format, whose sums every metric may read.
struct FramePair {
  std::uint64_t index;
  const Frame& a;
  const Frame& b;
  std::span<const PlaneSums> sums;  // of each plane

  bool identical() const;
};

struct Definition {
  std::string text;                   // complete: windows, constants, weights, source
  std::vector<std::string> warnings;  // what this format makes it leave out
};

// Calls come in the order init, extract for each pair, flush.
class Metric {
 public:
  virtual ~Metric() = default;
  virtual Definition init(const FrameFormat& a, const FrameFormat& b) = 0;  // alike but for range and matrix
  virtual Result<Summary> extract(const FramePair& pair) = 0;
  virtual Summary flush() const = 0;
};

// Values of the metric's own command-line options, by flag.
using MetricSettings = std::map<std::string, std::string, std::less<>>;

struct MetricOption {
  std::string flag, help, fallback;
  std::vector<std::string> choices;  // empty: anything
};

enum class Better { higher, lower };

struct MetricEntry {
  std::string name;      // of --metrics, and its key in JSON
  std::string title;     // "PSNR"
  std::string unit;      // "dB"; may be empty
  std::string headline;  // key of the score that stands for the metric
  Better better;
  bool by_default;
  std::string threshold_flag;  // "--min-psnr", on the headline; empty: none
  std::vector<MetricOption> options;
  std::function<Result<std::unique_ptr<Metric>>(const MetricSettings&)> create;
};

const std::vector<MetricEntry>& metric_registry();
const MetricEntry* find_metric(std::string_view name);

}  // namespace bitproof::metrics
