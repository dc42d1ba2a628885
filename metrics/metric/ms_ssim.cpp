#include <array>
#include <cmath>

#include <fmt/format.h>

#include "metrics/metric/entries.h"
#include "metrics/metric/similarity.h"
#include "metrics/metric/windowed.h"

namespace bitproof::metrics {
namespace {

// Wang, Simoncelli, Bovik: Multiscale structural similarity (2003), exponents of the five scales.
constexpr std::array<double, 5> kExponents = {0.0448, 0.2856, 0.3001, 0.2363, 0.1333};
constexpr int kSide = 11;
constexpr double kSigma = 1.5;
constexpr int kSmallest = (kSide - 1) * 16 + 1;  // so that the fifth scale still holds a window

constexpr const char* kDefinition =
    "MS-SSIM of Wang et al. (2003): contrast and structure at five scales, luminance at the last, exponents "
    "0.0448, "
    "0.2856, 0.3001, 0.2363, 0.1333; Gaussian 11x11 windows of sigma 1.5 inside the plane, K1 = 0.01, K2 = "
    "0.03, data "
    "range 2^depth - 1, in double. Scales are halved by 2x2 means, where an odd side starts with half a mean "
    "(a zero before "
    "the first sample), and a scale's negative mean counts as 0: both as in pytorch-msssim.";

// 2x2 means in steps of 2; along an odd axis the first mean takes in one zero before the first sample.
Image halve(const Image& image) {
  const int pad_x = image.width % 2, pad_y = image.height % 2;
  Image half{(image.width + pad_x) / 2, (image.height + pad_y) / 2, {}};
  const auto sample = [&](int x, int y) {
    return x < 0 || y < 0 ? 0.0
                          : image.samples[static_cast<std::size_t>(y) * static_cast<std::size_t>(image.width) +
                                          static_cast<std::size_t>(x)];
  };
  for (int y = 0; y < half.height; ++y) {
    for (int x = 0; x < half.width; ++x) {
      const int left = 2 * x - pad_x, top = 2 * y - pad_y;
      half.samples.push_back(
          (sample(left, top) + sample(left + 1, top) + sample(left, top + 1) + sample(left + 1, top + 1)) / 4);
    }
  }
  return half;
}

// 1 - product of (1 - e_i)^w_i by way of logarithms of 1 - e_i, so that small distances keep their digits.
double distance(const FramePair& pair, std::size_t plane) {
  if (pair.sums[plane].identical) return 0;
  const Window window = Window::gaussian(kSide, kSigma);
  const StabilityConstants constants = stability_constants(*pair.a.format, pair.a.format->planes[plane]);
  ImagePair images = image_pair(pair, plane);
  double logarithm = 0;
  for (std::size_t scale = 0; scale < kExponents.size(); ++scale) {
    const WindowedDistance scale_distance = windowed_distance(images, window, constants);
    const bool last = scale + 1 == kExponents.size();
    const double loss = last ? scale_distance.one_minus_ssim : scale_distance.one_minus_structure;
    if (loss >= 1) return 1;
    logarithm += kExponents[scale] * std::log1p(-loss);
    if (!last) images = {halve(images.a), halve(images.difference)};
  }
  return -std::expm1(logarithm);
}

}  // namespace

MetricEntry ms_ssim_metric() {
  return {.name = "ms-ssim",
          .title = "MS-SSIM",
          .unit = "",
          .headline = "all",
          .better = Better::higher,
          .by_default = false,
          .threshold_flag = "",
          .options = {},
          .create = [](const MetricSettings&) -> Result<std::unique_ptr<Metric>> {
            return make_similarity_metric(
                {.definition = kDefinition,
                 .not_applicable = [](const FrameFormat&,
                                      const PlaneFormat& plane) { return too_small(plane, kSmallest); },
                 .distance = distance,
                 .samples_outside = [](const PlaneFormat&) { return std::uint64_t{0}; }});
          }};
}

}  // namespace bitproof::metrics
