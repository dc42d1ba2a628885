// SSIM with a window at every position: Wang's Gaussian one, and scikit-image's default.
#include <fmt/format.h>

#include "metrics/metric/entries.h"
#include "metrics/metric/similarity.h"
#include "metrics/metric/windowed.h"

namespace bitproof::metrics {
namespace {

Result<std::unique_ptr<Metric>> make(std::string definition, const Window& window) {
  const int side = static_cast<int>(window.weights.size());
  return make_similarity_metric(
      {.definition = std::move(definition),
       .not_applicable = [side](const FrameFormat&,
                                const PlaneFormat& plane) { return too_small(plane, side); },
       .distance =
           [window](const FramePair& pair, std::size_t plane) {
             if (pair.sums[plane].identical) return 0.0;
             return windowed_distance(image_pair(pair, plane), window,
                                      stability_constants(*pair.a.format, pair.a.format->planes[plane]))
                 .one_minus_ssim;
           },
       .samples_outside = [](const PlaneFormat&) { return std::uint64_t{0}; }});
}

constexpr const char* kConstants =
    " K1 = 0.01, K2 = 0.03, data range 2^depth - 1 (1 for floating point), mean over all windows inside the "
    "plane, in "
    "double.";

}  // namespace

MetricEntry gaussian_ssim_metric() {
  return {
      .name = "ssim-gaussian",
      .title = "SSIM, Gaussian 11x11",
      .unit = "",
      .headline = "all",
      .better = Better::higher,
      .by_default = false,
      .threshold_flag = "",
      .options = {},
      .create = [](const MetricSettings&) {
        return make(
            std::string("SSIM of Wang et al. (2004): Gaussian 11x11 windows of sigma 1.5 at every position, "
                        "population covariance (scikit-image: gaussian_weights=True, sigma=1.5, "
                        "use_sample_covariance=False).") +
                kConstants,
            Window::gaussian(11, 1.5));
      }};
}

MetricEntry uniform_ssim_metric() {
  return {.name = "ssim-uniform",
          .title = "SSIM, uniform 7x7",
          .unit = "",
          .headline = "all",
          .better = Better::higher,
          .by_default = false,
          .threshold_flag = "",
          .options = {},
          .create = [](const MetricSettings&) {
            return make(
                std::string("SSIM as scikit-image's structural_similarity computes it by default: uniform 7x7 "
                            "windows at every position, sample covariance (n/(n-1)).") +
                    kConstants,
                Window::uniform_with_sample_covariance(7));
          }};
}

}  // namespace bitproof::metrics
