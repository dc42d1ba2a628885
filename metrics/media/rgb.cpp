#include "metrics/media/rgb.h"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>
extern "C" {
#include <libavutil/frame.h>
#include <libavutil/pixdesc.h>
#include <libswscale/swscale.h>
}

namespace bitproof::metrics {
namespace {

// Exact rounding and full-resolution chroma, the same result on every machine.
constexpr int kFlags = SWS_BICUBIC | SWS_ACCURATE_RND | SWS_FULL_CHR_H_INT | SWS_FULL_CHR_H_INP | SWS_BITEXACT;

struct Matrix {
  int swscale;
  std::string description;
};

Matrix matrix_of(const FrameFormat& format) {
  static constexpr std::array<std::pair<const char*, int>, 8> kKnown = {{{"bt709", SWS_CS_ITU709},
                                                                         {"bt470bg", SWS_CS_ITU601},
                                                                         {"smpte170m", SWS_CS_SMPTE170M},
                                                                         {"smpte240m", SWS_CS_SMPTE240M},
                                                                         {"fcc", SWS_CS_FCC},
                                                                         {"bt2020nc", SWS_CS_BT2020},
                                                                         {"bt2020c", SWS_CS_BT2020},
                                                                         {"bt2020_ncl", SWS_CS_BT2020}}};
  for (const auto& [name, value] : kKnown)
    if (format.matrix == name) return {value, fmt::format("matrix {}", name)};
  if (format.height >= 720) return {SWS_CS_ITU709, fmt::format("matrix {}, taken for bt709", format.matrix)};
  return {SWS_CS_ITU601, fmt::format("matrix {}, taken for bt601", format.matrix)};
}

bool is_full_range(const FrameFormat& format) { return format.range == ColorRange::full; }

float peak_of(const FrameFormat& format, std::size_t plane) {
  return format.sample == SampleType::f32 ? 1.0F : static_cast<float>((1 << format.planes[plane].depth) - 1);
}

template <class T>
void gather(const Frame& frame, RgbImage& image) {
  const bool gray = frame.format->model == ColorModel::gray;
  float* out = image.samples.data();
  const PlaneView<T> planes[3] = {frame.view<T>(0), frame.view<T>(gray ? 0 : 1), frame.view<T>(gray ? 0 : 2)};
  float scale[3];  // 1 unless the depths are mixed (rgb565)
  for (std::size_t i = 0; i < 3; ++i) scale[i] = image.peak / peak_of(*frame.format, gray ? 0 : i);
  for (int y = 0; y < image.height; ++y)
    for (int x = 0; x < image.width; ++x)
      for (std::size_t i = 0; i < 3; ++i) *out++ = scale[i] * static_cast<float>(planes[i].row(y)[x]);
}

RgbImage empty_image(const FrameFormat& format, float peak) {
  return {
      format.width, format.height, peak,
      std::vector<float>(3 * static_cast<std::size_t>(format.width) * static_cast<std::size_t>(format.height))};
}

RgbImage take_over(const Frame& frame) {
  const FrameFormat& format = *frame.format;
  RgbImage image = empty_image(format, peak_of(format, 0));
  if (format.sample == SampleType::u8)
    gather<std::uint8_t>(frame, image);
  else if (format.sample == SampleType::u16)
    gather<std::uint16_t>(frame, image);
  else
    gather<float>(frame, image);
  return image;
}

}  // namespace

struct RgbConverter::State {
  SwsContext* context = nullptr;

  State() = default;
  ~State() { sws_freeContext(context); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;
};

RgbConverter::RgbConverter() : state_(std::make_unique<State>()) {}
RgbConverter::~RgbConverter() = default;
RgbConverter::RgbConverter(RgbConverter&&) noexcept = default;
RgbConverter& RgbConverter::operator=(RgbConverter&&) noexcept = default;

Result<RgbImage> RgbConverter::convert(const Frame& frame) {
  const FrameFormat& format = *frame.format;
  if (format.model != ColorModel::yuv) return take_over(frame);
  const auto failure = [&] {
    return Failure{FailureKind::mismatch,
                   fmt::format("libswscale does not convert {} to RGB", format.pixel_format)};
  };
  if (!frame.native) return failure();

  const bool deep = format.sample == SampleType::u16;
  const AVPixelFormat target = deep ? AV_PIX_FMT_RGB48LE : AV_PIX_FMT_RGB24;
  const auto source = static_cast<AVPixelFormat>(frame.native->format);
  state_->context = sws_getCachedContext(state_->context, format.width, format.height, source, format.width,
                                         format.height, target, kFlags, nullptr, nullptr, nullptr);
  if (state_->context == nullptr) return failure();
  const int* coefficients = sws_getCoefficients(matrix_of(format).swscale);
  constexpr int kOne = 1 << 16;
  sws_setColorspaceDetails(state_->context, coefficients, is_full_range(format) ? 1 : 0, coefficients, 1, 0,
                           kOne, kOne);

  const std::size_t row_samples = 3 * static_cast<std::size_t>(format.width);
  std::vector<std::uint8_t> packed(row_samples * static_cast<std::size_t>(format.height) * (deep ? 2 : 1));
  std::uint8_t* data[4] = {packed.data(), nullptr, nullptr, nullptr};
  const int stride[4] = {static_cast<int>(row_samples * (deep ? 2 : 1)), 0, 0, 0};
  if (sws_scale(state_->context, frame.native->data, frame.native->linesize, 0, format.height, data, stride) !=
      format.height)
    return failure();

  RgbImage image = empty_image(format, deep ? 65535.0F : 255.0F);
  if (deep)
    std::copy_n(reinterpret_cast<const std::uint16_t*>(packed.data()), image.samples.size(),
                image.samples.begin());
  else
    std::copy(packed.begin(), packed.end(), image.samples.begin());
  return image;
}

std::string RgbConverter::describe(const FrameFormat& format) {
  if (format.model == ColorModel::rgb) return "RGB samples as decoded";
  if (format.model == ColorModel::gray) return "gray samples as decoded, three times";
  const std::string range = format.range == ColorRange::unspecified
                                ? "range unspecified, taken for limited"
                                : fmt::format("{} range", name(format.range));
  const unsigned version = swscale_version();
  return fmt::format("RGB by libswscale {}.{}.{}, bicubic chroma, {}, {}", version >> 16, version >> 8 & 0xff,
                     version & 0xff, matrix_of(format).description, range);
}

}  // namespace bitproof::metrics
