// A decoded frame: planes of samples at their native size and depth, as the decoder left them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "metrics/identity/sha256.h"

struct AVFrame;

namespace bitproof::metrics {

enum class ColorModel { gray, yuv, rgb };
enum class SampleType { u8, u16, f32 };
enum class ColorRange { unspecified, limited, full };

std::string_view name(ColorModel model);
std::string_view name(ColorRange range);

struct PlaneFormat {
  char name;  // y, u, v, r, g, b, a
  int width, height;
  int depth;  // bits of a sample; 32 for floating point
  bool operator==(const PlaneFormat&) const = default;

  std::uint64_t samples() const {
    return static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height);
  }
};

struct FrameFormat {
  std::string pixel_format;  // FFmpeg's name of the native layout, "yuv420p10le"
  ColorModel model = ColorModel::gray;
  SampleType sample = SampleType::u8;
  int width = 0, height = 0;
  std::vector<PlaneFormat> planes;  // y [u v] [a], or r g b [a]
  ColorRange range = ColorRange::unspecified;
  std::string matrix = "unspecified";  // FFmpeg's name of the YUV matrix, "bt709"
  bool operator==(const FrameFormat&) const = default;

  bool has_alpha() const { return !planes.empty() && planes.back().name == 'a'; }
  std::uint64_t samples() const;
  std::string describe()
      const;  // "832x480 yuv420p (y 832x480, u 416x240, v 416x240; 8 bit), limited range, bt709"
};

// One plane's samples as T: std::uint8_t, std::uint16_t or float, native byte order. Rows are `stride` samples
// apart.
template <class T>
struct PlaneView {
  const T* data;
  std::ptrdiff_t stride;
  int width, height;

  const T* row(int y) const { return data + y * stride; }
};

struct Frame {
  struct Plane {
    const std::byte* data;
    std::ptrdiff_t stride_bytes;
  };

  std::shared_ptr<const FrameFormat> format;
  std::vector<Plane> planes;              // as format->planes
  std::shared_ptr<const void> storage;    // keeps the samples alive
  std::shared_ptr<const AVFrame> native;  // what the decoder gave; empty for image files
  std::optional<Digest> digest;           // as `ffmpeg -f framehash -hash sha256` computes it, when asked for
  std::optional<double> seconds;          // presentation time stamp, when there is one
  std::uint64_t not_finite = 0;           // samples that are NaN or infinite

  template <class T>
  PlaneView<T> view(std::size_t plane) const {
    const PlaneFormat& shape = format->planes[plane];
    return {reinterpret_cast<const T*>(planes[plane].data),
            planes[plane].stride_bytes / static_cast<std::ptrdiff_t>(sizeof(T)), shape.width, shape.height};
  }
};

// Calls function(PlaneView<T> a, PlaneView<T> b) with the sample type T of the frames, whose formats are equal.
template <class Function>
decltype(auto) with_views(const Frame& a, const Frame& b, std::size_t plane, Function&& function) {
  switch (a.format->sample) {
    case SampleType::u8:
      return function(a.view<std::uint8_t>(plane), b.view<std::uint8_t>(plane));
    case SampleType::u16:
      return function(a.view<std::uint16_t>(plane), b.view<std::uint16_t>(plane));
    case SampleType::f32:
      break;
  }
  return function(a.view<float>(plane), b.view<float>(plane));
}

}  // namespace bitproof::metrics
