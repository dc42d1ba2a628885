#include "metrics/media/frame.h"

#include <numeric>

#include <fmt/format.h>

namespace bitproof::metrics {

std::string_view name(ColorModel model) {
  switch (model) {
    case ColorModel::gray:
      return "gray";
    case ColorModel::yuv:
      return "YUV";
    case ColorModel::rgb:
      return "RGB";
  }
  return "";
}

std::string_view name(ColorRange range) {
  switch (range) {
    case ColorRange::unspecified:
      return "unspecified";
    case ColorRange::limited:
      return "limited";
    case ColorRange::full:
      return "full";
  }
  return "";
}

std::uint64_t FrameFormat::samples() const {
  return std::accumulate(planes.begin(), planes.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const PlaneFormat& plane) { return sum + plane.samples(); });
}

std::string FrameFormat::describe() const {
  std::string shapes;
  for (const PlaneFormat& plane : planes)
    shapes += fmt::format("{}{} {}x{}", shapes.empty() ? "" : ", ", plane.name, plane.width, plane.height);
  const std::string depth =
      sample == SampleType::f32 ? "32 bit float" : fmt::format("{} bit", planes.empty() ? 0 : planes[0].depth);
  return fmt::format("{}x{} {} ({}; {}), {} range, matrix {}", width, height, pixel_format, shapes, depth,
                     name(range), matrix);
}

}  // namespace bitproof::metrics
