// LPIPS by a network that the user brings: an ONNX file with two picture inputs and one number as output, run
// by OpenCV's DNN module on the CPU.
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <opencv2/dnn.hpp>

#include "metrics/identity/file_digest.h"
#include "metrics/media/rgb.h"
#include "metrics/metric/entries.h"

namespace bitproof::metrics {
namespace {

struct Range {
  double low, high;
};

// What the network expects of its inputs; declared, never guessed.
struct Inputs {
  std::array<std::string, 2> names;
  Range range;
  bool channels_first, blue_first;
};

Range parse_range(const std::string& text) {
  if (text == "0..1") return {0, 1};
  if (text == "0..255") return {0, 255};
  return {-1, 1};
}

Result<Inputs> parse_inputs(const MetricSettings& settings) {
  const std::string& names = settings.at("--lpips-inputs");
  const std::size_t comma = names.find(',');
  if (comma == std::string::npos || comma == 0 || comma + 1 == names.size())
    return Failure{
        FailureKind::usage,
        fmt::format("--lpips-inputs {}: expected the names of the two inputs, such as in0,in1", names)};
  const std::string& layout = settings.at("--lpips-layout");
  return Inputs{{names.substr(0, comma), names.substr(comma + 1)},
                parse_range(settings.at("--lpips-range")),
                layout.starts_with("nchw"),
                layout.ends_with("bgr")};
}

// One picture as the network's blob of shape 1 x 3 x H x W, or 1 x H x W x 3.
cv::Mat blob_of(const RgbImage& image, const Inputs& inputs) {
  const int shape_first[] = {1, 3, image.height, image.width}, shape_last[] = {1, image.height, image.width, 3};
  cv::Mat blob(4, inputs.channels_first ? shape_first : shape_last, CV_32F);
  const auto pixels = static_cast<std::size_t>(image.width) * static_cast<std::size_t>(image.height);
  const double scale = (inputs.range.high - inputs.range.low) / static_cast<double>(image.peak);
  float* out = blob.ptr<float>();
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    for (std::size_t c = 0; c < 3; ++c) {
      const std::size_t channel = inputs.blue_first ? 2 - c : c;
      const auto value =
          static_cast<float>(inputs.range.low + scale * static_cast<double>(image.samples[3 * pixel + c]));
      out[inputs.channels_first ? channel * pixels + pixel : 3 * pixel + channel] = value;
    }
  }
  return blob;
}

class Lpips final : public Metric {
 public:
  Lpips(cv::dnn::Net net, Inputs inputs, std::string model)
      : net_(std::move(net)), inputs_(std::move(inputs)), model_(std::move(model)) {}

  Definition init(const FrameFormat& a, const FrameFormat& b) override {
    const std::string of_a = RgbConverter::describe(a), of_b = RgbConverter::describe(b);
    const std::string conversion = of_a == of_b ? of_a : fmt::format("A: {}; B: {}", of_a, of_b);
    Definition definition{
        fmt::format("LPIPS (Zhang et al. 2018) by the network {}, inputs {} to {} {}, run in float by OpenCV "
                    "{} DNN; {}; "
                    "identical frames give 0 without running it. A clip's value is the mean over its frames.",
                    model_, inputs_.range.low, inputs_.range.high, layout(), cv::getVersionString(),
                    conversion),
        {}};
    if (a.has_alpha()) definition.warnings.push_back("alpha is left out");
    return definition;
  }

  Result<Summary> extract(const FramePair& pair) override {
    const Result<double> distance = pair.identical() ? Result<double>(0.0) : measure(pair);
    if (!distance) return distance.failure();
    sum_ += *distance;
    ++frames_;
    return summary_of(*distance, pair.identical());
  }

  Summary flush() const override { return summary_of(sum_ / static_cast<double>(frames_), sum_ == 0); }

 private:
  std::string layout() const {
    return fmt::format("{} {}", inputs_.channels_first ? "NCHW" : "NHWC", inputs_.blue_first ? "BGR" : "RGB");
  }

  static Summary summary_of(double distance, bool best) {
    return {{Score{.key = "average", .value = distance, .best = best}}, {}};
  }

  Result<double> measure(const FramePair& pair) {
    const auto failed = [&](const std::string& reason) {
      return Failure{FailureKind::usage, fmt::format("LPIPS, frame {}: {}: {}", pair.index, model_, reason)};
    };
    Result<RgbImage> a = converter_.convert(pair.a);
    if (!a) return a.failure();
    Result<RgbImage> b = converter_.convert(pair.b);
    if (!b) return b.failure();
    try {
      net_.setInput(blob_of(*a, inputs_), inputs_.names[0]);
      net_.setInput(blob_of(*b, inputs_), inputs_.names[1]);
      const cv::Mat output = net_.forward();
      if (output.total() != 1 || output.type() != CV_32F)
        return failed(fmt::format("gives {} numbers instead of one", output.total()));
      const float distance = *output.ptr<float>();
      if (!std::isfinite(distance)) return failed("gives NaN or infinity");
      return static_cast<double>(distance);
    } catch (const cv::Exception& error) {
      return failed(error.err);
    }
  }

  cv::dnn::Net net_;
  Inputs inputs_;
  std::string model_;  // "lpips.onnx (SHA-256 ...)"
  RgbConverter converter_;
  double sum_ = 0;
  std::uint64_t frames_ = 0;
};

Result<std::unique_ptr<Metric>> make(const MetricSettings& settings) {
  const std::string& file = settings.at("--lpips-model");
  if (file.empty())
    return Failure{FailureKind::usage,
                   "LPIPS needs a network: --lpips-model FILE.onnx, with --lpips-range and "
                   "--lpips-layout as it expects them"};
  Result<Inputs> inputs = parse_inputs(settings);
  if (!inputs) return inputs.failure();
  const std::filesystem::path path(file);
  const Result<Digest> digest = file_digest({&path, 1});
  if (!digest) return digest.failure();
  try {
    cv::dnn::Net net = cv::dnn::readNetFromONNX(file);
    net.setPreferableBackend(cv::dnn::DNN_BACKEND_OPENCV);
    net.setPreferableTarget(cv::dnn::DNN_TARGET_CPU);
    return std::unique_ptr<Metric>(
        std::make_unique<Lpips>(std::move(net), std::move(*inputs),
                                fmt::format("{} (SHA-256 {})", path.filename().string(), digest->hex())));
  } catch (const cv::Exception& error) {
    return Failure{FailureKind::unreadable,
                   fmt::format("{}: OpenCV cannot read the network: {}", file, error.err)};
  }
}

}  // namespace

MetricEntry lpips_metric() {
  return {.name = "lpips",
          .title = "LPIPS",
          .unit = "",
          .headline = "average",
          .better = Better::lower,
          .by_default = false,
          .threshold_flag = "--max-lpips",
          .options = {{"--lpips-model", "ONNX file of the network: two pictures in, one number out", "", {}},
                      {"--lpips-range", "values of the network's inputs", "-1..1", {"-1..1", "0..1", "0..255"}},
                      {"--lpips-layout",
                       "order of the network's inputs",
                       "nchw-rgb",
                       {"nchw-rgb", "nchw-bgr", "nhwc-rgb", "nhwc-bgr"}},
                      {"--lpips-inputs", "names of the network's two inputs", "in0,in1", {}}},
          .create = make};
}

}  // namespace bitproof::metrics
