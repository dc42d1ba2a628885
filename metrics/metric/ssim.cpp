// The headline SSIM: FFmpeg's. Its sums come with the squared error (pixels/plane_sums.h).
#include <fmt/format.h>

#include "metrics/metric/entries.h"
#include "metrics/metric/similarity.h"

namespace bitproof::metrics {
namespace {

constexpr const char* kDefinition =
    "SSIM as FFmpeg's ssim filter defines it: uniform 8x8 windows in steps of 4, integer sums, K1 = 0.01, K2 = "
    "0.03, "
    "sample covariance; c1 = K1^2 L^2 64 and c2 = K2^2 L^2 64 63 rounded to integers, L = 2^depth - 1. 1 - "
    "SSIM is "
    "accumulated in double, so that the value is 1 only when every window is identical. Alpha counts as a "
    "plane.";

std::optional<std::string> not_applicable(const FrameFormat& format, const PlaneFormat& plane) {
  if (format.sample == SampleType::f32) return "the sums are of integers, the samples floating-point";
  if (plane.width >= 8 && plane.height >= 8) return std::nullopt;
  return fmt::format("{}x{} samples are too few for an 8x8 window", plane.width, plane.height);
}

std::uint64_t samples_outside(const PlaneFormat& plane) {
  return plane.samples() -
         16 * static_cast<std::uint64_t>(plane.width / 4) * static_cast<std::uint64_t>(plane.height / 4);
}

}  // namespace

MetricEntry ssim_metric() {
  return {.name = "ssim",
          .title = "SSIM",
          .unit = "",
          .headline = "all",
          .better = Better::higher,
          .by_default = true,
          .threshold_flag = "--min-ssim",
          .options = {},
          .create = [](const MetricSettings&) -> Result<std::unique_ptr<Metric>> {
            return make_similarity_metric(
                {.definition = kDefinition,
                 .not_applicable = not_applicable,
                 .distance = [](const FramePair& pair,
                                std::size_t plane) { return pair.sums[plane].one_minus_ssim; },
                 .samples_outside = samples_outside});
          }};
}

}  // namespace bitproof::metrics
