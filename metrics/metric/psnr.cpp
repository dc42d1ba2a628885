#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "metrics/metric/entries.h"

namespace bitproof::metrics {
namespace {

constexpr std::string_view kDefinition =
    "PSNR = 10 log10(peak^2 / MSE), peak = {}. The MSE of a plane is its exact sum of squared errors over its "
    "samples; "
    "`average` weighs the planes by their samples. A clip's value is that of the mean of its frames' MSE (what "
    "FFmpeg's "
    "psnr filter prints as `average`); `mean_of_finite` is the mean of the frames' values, identical frames "
    "left out. "
    "There is no cap: identical planes have no finite value.";

struct Mean {
  double sum = 0;
  std::uint64_t count = 0;

  void add(double value) {
    sum += value;
    ++count;
  }
  double value() const { return sum / static_cast<double>(count); }
};

double peak_of(const FrameFormat& format, const PlaneFormat& plane) {
  return format.sample == SampleType::f32 ? 1 : static_cast<double>((std::int64_t{1} << plane.depth) - 1);
}

class Psnr final : public Metric {
 public:
  Definition init(const FrameFormat& format, const FrameFormat&) override {
    format_ = format;
    plane_mse_.assign(format.planes.size(), {});
    peak_ = 0;
    for (const PlaneFormat& plane : format.planes) peak_ = std::max(peak_, peak_of(format, plane));
    const std::string peak = format.sample == SampleType::f32 ? "1 (floating-point samples)"
                                                              : fmt::format("{:.0f} (2^depth - 1)", peak_);
    Definition definition{fmt::format(kDefinition, peak), {}};
    for (const PlaneFormat& plane : format.planes)
      if (const double own = peak_of(format, plane); own < peak_)
        definition.warnings.push_back(
            fmt::format("plane {}: its peak is {:.0f}; `average` takes in its errors scaled up to {:.0f}",
                        plane.name, own, peak_));
    return definition;
  }

  Result<Summary> extract(const FramePair& pair) override {
    std::vector<double> planes;
    double average = 0;
    for (std::size_t i = 0; i < pair.sums.size(); ++i) {
      const double mse = pair.sums[i].mean_squared_error;
      planes.push_back(mse);
      const double scale =
          peak_ / peak_of(format_, format_.planes[i]);  // 1 unless the depths are mixed (rgb565)
      average += scale * scale * mse * static_cast<double>(pair.sums[i].samples) /
                 static_cast<double>(format_.samples());
      plane_mse_[i].add(mse);
    }
    average_mse_.add(average);
    Summary summary = scores_of(average, planes);
    if (const auto finite = summary.scores.front().value)
      finite_.add(*finite);
    else
      ++identical_;
    return summary;
  }

  Summary flush() const override {
    std::vector<double> planes;
    for (const Mean& plane : plane_mse_) planes.push_back(plane.value());
    Summary summary = scores_of(average_mse_.value(), planes);
    Score mean{.key = "mean_of_finite"};
    if (finite_.count > 0)
      mean.value = finite_.value();
    else
      mean.reason = "identical: no frame has a finite value";
    summary.scores.push_back(std::move(mean));
    summary.counts = {{"identical_frames", identical_}, {"finite_frames", finite_.count}};
    return summary;
  }

 private:
  static Score score(std::string key, double mse, double peak) {
    if (mse == 0) return {.key = std::move(key), .reason = "identical: infinite", .best = true};
    return {.key = std::move(key), .value = 10 * std::log10(peak * peak / mse)};
  }

  Summary scores_of(double average, const std::vector<double>& planes) const {
    Summary summary;
    summary.scores.push_back(score("average", average, peak_));
    for (std::size_t i = 0; i < planes.size(); ++i) {
      const PlaneFormat& plane = format_.planes[i];
      summary.scores.push_back(score(std::string(1, plane.name), planes[i], peak_of(format_, plane)));
    }
    return summary;
  }

  FrameFormat format_;
  double peak_ = 0;  // of the deepest plane
  std::vector<Mean> plane_mse_;
  Mean average_mse_, finite_;
  std::uint64_t identical_ = 0;
};

}  // namespace

MetricEntry psnr_metric() {
  return {.name = "psnr",
          .title = "PSNR",
          .unit = "dB",
          .headline = "average",
          .better = Better::higher,
          .by_default = true,
          .threshold_flag = "--min-psnr",
          .options = {},
          .create = [](const MetricSettings&) -> Result<std::unique_ptr<Metric>> {
            return std::unique_ptr<Metric>(std::make_unique<Psnr>());
          }};
}

}  // namespace bitproof::metrics
