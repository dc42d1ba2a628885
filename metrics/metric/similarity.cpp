#include "metrics/metric/similarity.h"

#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace bitproof::metrics {
namespace {

Score score(std::string key, double distance) {
  return {.key = std::move(key),
          .value = similarity_value(distance),
          .reason = {},
          .one_minus = distance,
          .best = distance == 0};
}

class SimilarityMetric final : public Metric {
 public:
  explicit SimilarityMetric(Similarity similarity) : similarity_(std::move(similarity)) {}

  Definition init(const FrameFormat& format, const FrameFormat&) override {
    format_ = format;
    Definition definition{similarity_.definition +
                              " `all` is the mean of the planes weighted by their samples; a clip's "
                              "value is the mean over its frames.",
                          {}};
    for (const PlaneFormat& plane : format.planes) {
      std::optional<std::string> reason = similarity_.not_applicable(format, plane);
      if (reason)
        definition.warnings.push_back(fmt::format("plane {}: {}", plane.name, *reason));
      else if (const std::uint64_t outside = similarity_.samples_outside(plane); outside > 0)
        definition.warnings.push_back(fmt::format("plane {}: {} of {} samples lie outside all windows",
                                                  plane.name, outside, plane.samples()));
      if (reason && !missing_) missing_ = fmt::format("plane {}: {}", plane.name, *reason);
      planes_.push_back({std::move(reason), 0});
    }
    return definition;
  }

  Result<Summary> extract(const FramePair& pair) override {
    ++frames_;
    std::vector<double> distances;
    double all = 0;
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      const double distance = planes_[i].not_applicable ? 0 : similarity_.distance(pair, i);
      distances.push_back(distance);
      planes_[i].sum += distance;
      all += distance * static_cast<double>(pair.sums[i].samples) / static_cast<double>(format_.samples());
    }
    sum_ += all;
    return Summary{scores_of(all, distances), {}};
  }

  Summary flush() const override {
    const double frames = static_cast<double>(frames_);
    std::vector<double> distances;
    for (const Plane& plane : planes_) distances.push_back(plane.sum / frames);
    return {scores_of(sum_ / frames, distances), {}};
  }

 private:
  struct Plane {
    std::optional<std::string> not_applicable;
    double sum;
  };

  static Score none(std::string key, const std::string& reason) {
    return {.key = std::move(key), .value = {}, .reason = "not applicable: " + reason};
  }

  std::vector<Score> scores_of(double all, const std::vector<double>& distances) const {
    std::vector<Score> scores;
    scores.push_back(missing_ ? none("all", *missing_) : score("all", all));
    for (std::size_t i = 0; i < planes_.size(); ++i) {
      const std::string key(1, format_.planes[i].name);
      scores.push_back(planes_[i].not_applicable ? none(key, *planes_[i].not_applicable)
                                                 : score(key, distances[i]));
    }
    return scores;
  }

  Similarity similarity_;
  FrameFormat format_;
  std::vector<Plane> planes_;
  std::optional<std::string> missing_;
  double sum_ = 0;
  std::uint64_t frames_ = 0;
};

}  // namespace

std::unique_ptr<Metric> make_similarity_metric(Similarity similarity) {
  return std::make_unique<SimilarityMetric>(std::move(similarity));
}

double similarity_value(double distance) {
  const double value = 1 - distance;
  return value == 1 && distance > 0 ? std::nextafter(1.0, 0.0) : value;
}

}  // namespace bitproof::metrics
