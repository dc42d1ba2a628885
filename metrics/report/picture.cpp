#include "metrics/report/picture.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <vector>

#include <opencv2/imgcodecs.hpp>
#include <opencv2/imgproc.hpp>

#include "metrics/media/rgb.h"
#include "metrics/report/base64.h"

namespace bitproof::metrics {
namespace {

double scale_of(cv::Size size) { return std::min(1.0, static_cast<double>(kWidestPicture) / size.width); }

cv::Size scaled(cv::Size size) {
  const double scale = scale_of(size);
  return {std::max(1, static_cast<int>(std::lround(size.width * scale))),
          std::max(1, static_cast<int>(std::lround(size.height * scale)))};
}

std::string data_uri(const cv::Mat& image, const char* extension, std::string_view type) {
  std::vector<unsigned char> bytes;
  if (!cv::imencode(extension, image, bytes)) return "";
  return "data:" + std::string(type) + ";base64," + base64(std::as_bytes(std::span(bytes)));
}

std::string photograph(const Frame& frame) {
  RgbConverter converter;
  const Result<RgbImage> rgb = converter.convert(frame);
  if (!rgb) return "";
  cv::Mat image(rgb->height, rgb->width, CV_8UC3);
  const float* sample = rgb->samples.data();
  for (int y = 0; y < image.rows; ++y) {
    for (int x = 0; x < image.cols; ++x, sample += 3) {
      const auto level = [&](int channel) {
        return cv::saturate_cast<unsigned char>(sample[channel] * 255 / rgb->peak);
      };
      image.at<cv::Vec3b>(y, x) = {level(2), level(1), level(0)};
    }
  }
  cv::Mat small;
  cv::resize(image, small, scaled(image.size()), 0, 0, cv::INTER_AREA);
  return data_uri(small, ".jpg", "image/jpeg");
}

// The greatest difference of the planes at each position of the frame.
cv::Mat difference_map(const FramePair& pair) {
  const FrameFormat& format = *pair.a.format;
  cv::Mat map = cv::Mat::zeros(format.height, format.width, CV_32F);
  for (std::size_t i = 0; i < format.planes.size(); ++i) {
    if (pair.sums[i].identical) continue;
    const PlaneFormat& plane = format.planes[i];
    cv::Mat difference(plane.height, plane.width, CV_32F);
    with_views(pair.a, pair.b, i, [&](auto a, auto b) {
      for (int y = 0; y < plane.height; ++y)
        for (int x = 0; x < plane.width; ++x)
          difference.at<float>(y, x) =
              static_cast<float>(std::abs(static_cast<double>(a.row(y)[x]) - static_cast<double>(b.row(y)[x])));
    });
    cv::Mat full;
    cv::resize(difference, full, map.size(), 0, 0, cv::INTER_NEAREST);
    map = cv::max(map, full);
  }
  return map;
}

// Spreads each value over its neighbours, as far as shrinking skips, so that a single sample is seen.
cv::Mat shrink_keeping_peaks(const cv::Mat& map) {
  const int reach = static_cast<int>(std::ceil(0.5 / scale_of(map.size())));
  cv::Mat spread, small;
  cv::dilate(map, spread, cv::getStructuringElement(cv::MORPH_RECT, {2 * reach + 1, 2 * reach + 1}));
  cv::resize(spread, small, scaled(map.size()), 0, 0, cv::INTER_NEAREST);
  return small;
}

}  // namespace

Pictures draw(const FramePair& pair) {
  Pictures pictures{photograph(pair.a), photograph(pair.b), "", 0};
  const cv::Mat map = difference_map(pair);
  cv::minMaxLoc(map, nullptr, &pictures.peak);
  cv::Mat small = shrink_keeping_peaks(map);
  const bool floating = pair.a.format->sample == SampleType::f32;
  const double unit = floating && pictures.peak > 0 ? pictures.peak / 255 : 1;
  cv::Mat logarithm, levels, coloured;
  cv::log(small / unit + 1, logarithm);
  logarithm.convertTo(levels, CV_8U, 255 / std::max(1e-9, std::log1p(pictures.peak / unit)));
  cv::applyColorMap(levels, coloured, cv::COLORMAP_INFERNO);
  pictures.difference = data_uri(coloured, ".png", "image/png");
  return pictures;
}

}  // namespace bitproof::metrics
