// Values that scikit-image, pytorch-msssim and FFmpeg computed for the committed pictures and clips
// (fixtures/clips/expected.json, with versions and commands).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "metrics/metric/windowed.h"
#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/expected.h"
#include "tests/metrics/support/files.h"

namespace bitproof::metrics::test {
namespace {

Outcome measure(const std::string& a, const std::string& b, const std::vector<std::string>& metrics) {
  Request request = request_for(fixture("clips/" + a), fixture("clips/" + b));
  request.metrics.clear();
  for (const std::string& name : metrics) request.metrics.push_back({find_metric(name), std::nullopt});
  return compare(request, {});
}

TEST(Definitions, RecordedValuesOfScikitImageAndPytorchMsssim) {
  const Expected expected = read_expected(fixture("clips/expected.json"));
  int compared = 0;
  for (int picture = 0; picture < 3; ++picture) {
    const std::string path = fmt::format("/pictures/{}/", picture), name = expected.at(path + "a");
    const Outcome outcome =
        measure(name, expected.at(path + "b"), {"ssim-gaussian", "ssim-uniform", "ms-ssim"});
    for (const auto& metric : outcome.metrics) {
      const Score& score = score_of(outcome, metric.entry->name, "all");
      if (!expected.contains(path + metric.entry->name)) {
        EXPECT_NE(score.reason.find("too few for a window of 161x161"), std::string::npos);
        continue;
      }
      // Both sides compute in double; 1e-6 is asked for, 1e-10 is held.
      EXPECT_NEAR(score.value.value(), std::stod(expected.at(path + metric.entry->name)), 1e-10)
          << name << " " << metric.entry->name;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 8);
}

TEST(Definitions, RecordedValuesOfFfmpegForThe81Frames) {
  const Expected expected = read_expected(fixture("clips/expected.json"));
  const Outcome outcome = measure("pair81_a.mp4", "pair81_b.mp4", {"psnr", "ssim"});
  const auto expect = [&](const char* metric, const char* key, const char* ffmpeg_key) {
    EXPECT_EQ(fmt::format("{:.6f}", score_of(outcome, metric, key).value.value()),
              expected.at(fmt::format("/pair81/{}/values/{}", metric, ffmpeg_key)))
        << metric << " " << key;
  };
  for (const char* key : {"average", "y", "u", "v"}) expect("psnr", key, key);
  expect("ssim", "all", "All");
  expect("ssim", "y", "Y");
  expect("ssim", "u", "U");
  expect("ssim", "v", "V");
}

TEST(Definitions, IdenticalPicturesAreExactlyOneByEveryDefinition) {
  const Outcome outcome =
      measure("gray_a.png", "gray_a.png", {"ssim", "ssim-gaussian", "ssim-uniform", "ms-ssim"});
  for (const MetricResult& metric : outcome.metrics) {
    const Score& score = score_of(outcome, metric.entry->name, "all");
    EXPECT_EQ(score.value, 1.0) << metric.entry->name;
    EXPECT_EQ(score.one_minus, 0.0) << metric.entry->name;
    EXPECT_TRUE(score.best) << metric.entry->name;
  }
}

TEST(Definitions, WindowedDistanceOfEqualImagesIsExactlyZero) {
  ImagePair images{{16, 12, std::vector<double>(16 * 12)}, {16, 12, std::vector<double>(16 * 12, 0.0)}};
  for (std::size_t i = 0; i < images.a.samples.size(); ++i)
    images.a.samples[i] = static_cast<double>(i * 37 % 251);
  const WindowedDistance distance = windowed_distance(images, Window::gaussian(11, 1.5), {6.5025, 58.5225});
  EXPECT_EQ(distance.one_minus_ssim, 0.0);
  EXPECT_EQ(distance.one_minus_structure, 0.0);
}

TEST(Definitions, WindowsHaveUnitWeight) {
  for (const Window& window : {Window::gaussian(11, 1.5), Window::uniform_with_sample_covariance(7)}) {
    double sum = 0;
    for (const double weight : window.weights) sum += weight;
    EXPECT_NEAR(sum, 1.0, 1e-15);
  }
  EXPECT_EQ(Window::uniform_with_sample_covariance(7).covariance_factor, 49.0 / 48.0);
}

TEST(Definitions, EveryMetricStatesItselfInFull) {
  const Outcome outcome =
      measure("gray_a.png", "gray_b.png", {"psnr", "ssim", "ssim-gaussian", "ssim-uniform", "ms-ssim"});
  for (const MetricResult& metric : outcome.metrics)
    EXPECT_GT(metric.definition.text.size(), 150U) << metric.entry->name;
}

}  // namespace
}  // namespace bitproof::metrics::test
