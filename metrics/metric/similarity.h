// Metrics that give each plane of a frame a similarity of at most 1: how planes make a frame and frames a clip.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "metrics/metric/metric.h"

namespace bitproof::metrics {

struct Similarity {
  std::string definition;

  // Why a plane of this format has no value; nothing when it has one.
  std::function<std::optional<std::string>(const FrameFormat&, const PlaneFormat&)> not_applicable;

  // 1 - similarity of one plane; 0 exactly when nothing it looks at differs.
  std::function<double(const FramePair&, std::size_t plane)> distance;

  // Samples of a plane that it does not look at, for the warning.
  std::function<std::uint64_t(const PlaneFormat&)> samples_outside;
};

// `all` is the mean of the planes weighted by their samples; a clip's value is the mean over its frames.
std::unique_ptr<Metric> make_similarity_metric(Similarity similarity);

// 1 - distance, and below 1 however small the distance is.
double similarity_value(double distance);

}  // namespace bitproof::metrics
