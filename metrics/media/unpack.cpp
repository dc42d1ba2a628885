#include "metrics/media/unpack.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string_view>

#include <fmt/format.h>
extern "C" {
#include <libavutil/imgutils.h>
#include <libavutil/pixdesc.h>
}

#include "metrics/media/sample_storage.h"

namespace bitproof::metrics {
namespace {

static_assert(std::endian::native == std::endian::little,
              "native sample layouts are taken to be little-endian");

bool has(const AVPixFmtDescriptor& layout, std::uint64_t flag) { return (layout.flags & flag) != 0; }

ColorModel color_model(const AVPixFmtDescriptor& layout) {
  if (has(layout, AV_PIX_FMT_FLAG_RGB) || has(layout, AV_PIX_FMT_FLAG_PAL)) return ColorModel::rgb;
  return layout.nb_components >= 3 ? ColorModel::yuv : ColorModel::gray;
}

// Components in the order in which libav counts them.
std::string_view component_names(ColorModel model, bool alpha) {
  switch (model) {
    case ColorModel::gray:
      return alpha ? "ya" : "y";
    case ColorModel::yuv:
      return alpha ? "yuva" : "yuv";
    case ColorModel::rgb:
      return alpha ? "rgba" : "rgb";
  }
  return "";
}

// The deprecated "yuvj" formats are their plain counterparts in full range.
struct NamedFormat {
  std::string name;
  bool full_range;
};

NamedFormat plain_name(std::string name) {
  const std::size_t at = name.find("yuvj");
  if (at != 0) return {std::move(name), false};
  return {"yuv" + name.substr(4), true};
}

ColorRange color_range(const AVFrame& frame, bool full_by_format) {
  if (full_by_format || frame.color_range == AVCOL_RANGE_JPEG) return ColorRange::full;
  return frame.color_range == AVCOL_RANGE_MPEG ? ColorRange::limited : ColorRange::unspecified;
}

// Chroma is the second and third component of a format that is not RGB.
bool is_chroma(const FrameFormat& format, std::size_t component) {
  return format.model == ColorModel::yuv && (component == 1 || component == 2);
}

// A plane that holds one component only, in native integers without padding bits below: usable where it lies.
bool lies_ready(const AVPixFmtDescriptor& layout, const AVComponentDescriptor& component,
                std::size_t sample_bytes) {
  return !has(layout, AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_BE) &&
         component.shift == 0 && component.offset == 0 && component.step == static_cast<int>(sample_bytes);
}

// Whole bytes at a fixed distance, the commonest packed case (rgb24, nv12, yuyv422).
bool is_strided_bytes(const AVPixFmtDescriptor& layout, const AVComponentDescriptor& component) {
  return !has(layout, AV_PIX_FMT_FLAG_PAL | AV_PIX_FMT_FLAG_BITSTREAM | AV_PIX_FMT_FLAG_BE) &&
         component.shift == 0 && component.depth == 8;
}

void gather_bytes(const AVFrame& frame, const AVComponentDescriptor& component, const PlaneFormat& shape,
                  std::uint8_t* out) {
  for (int y = 0; y < shape.height; ++y) {
    const std::uint8_t* row = frame.data[component.plane] +
                              static_cast<std::ptrdiff_t>(y) * frame.linesize[component.plane] +
                              component.offset;
    for (int x = 0; x < shape.width; ++x) *out++ = row[static_cast<std::ptrdiff_t>(x) * component.step];
  }
}

// A palette's entries are words 0xAARRGGBB in native byte order (AV_PIX_FMT_PAL8 of libavutil/pixfmt.h);
// libav's own reader of lines knows the first component only.
void look_up(const AVFrame& frame, std::size_t component, const PlaneFormat& shape, std::byte* out) {
  static constexpr std::array<int, 4> kShift = {16, 8, 0, 24};  // r, g, b, a
  std::array<std::uint32_t, 256> entries{};
  static_assert(sizeof(entries) == AVPALETTE_SIZE);
  std::memcpy(entries.data(), frame.data[1], sizeof(entries));
  for (int y = 0; y < shape.height; ++y) {
    const std::uint8_t* row = frame.data[0] + static_cast<std::ptrdiff_t>(y) * frame.linesize[0];
    for (int x = 0; x < shape.width; ++x) *out++ = static_cast<std::byte>(entries[row[x]] >> kShift[component]);
  }
}

void read_component(const AVFrame& frame, const AVPixFmtDescriptor& layout, int component,
                    const PlaneFormat& shape, SampleType sample, std::byte* out) {
  const std::uint8_t* data[4] = {frame.data[0], frame.data[1], frame.data[2], frame.data[3]};
  const int read_size = sample == SampleType::f32 ? 4 : 2;
  std::vector<std::uint32_t> row(static_cast<std::size_t>(shape.width));
  for (int y = 0; y < shape.height; ++y) {
    av_read_image_line2(row.data(), data, frame.linesize, &layout, 0, y, component, shape.width, 0, read_size);
    if (sample == SampleType::u8) {
      const auto* values = reinterpret_cast<const std::uint16_t*>(row.data());
      for (int x = 0; x < shape.width; ++x) out[x] = static_cast<std::byte>(values[x]);
    } else {
      std::memcpy(out, row.data(), static_cast<std::size_t>(shape.width) * static_cast<std::size_t>(read_size));
    }
    out += static_cast<std::size_t>(shape.width) * sample_bytes(sample);
  }
}

}  // namespace

Result<FrameFormat> frame_format(const AVFrame& frame) {
  const AVPixFmtDescriptor* layout = av_pix_fmt_desc_get(static_cast<AVPixelFormat>(frame.format));
  if (layout == nullptr || has(*layout, AV_PIX_FMT_FLAG_HWACCEL | AV_PIX_FMT_FLAG_BAYER) || frame.width <= 0 ||
      frame.height <= 0)
    return Failure{FailureKind::mismatch, fmt::format("pixel format {} holds no samples that could be compared",
                                                      layout == nullptr ? "(unknown)" : layout->name)};
  const NamedFormat plain = plain_name(layout->name);
  FrameFormat format;
  format.pixel_format = plain.name;
  format.model = color_model(*layout);
  format.width = frame.width;
  format.height = frame.height;
  format.range = color_range(frame, plain.full_range);
  if (frame.colorspace != AVCOL_SPC_UNSPECIFIED && format.model == ColorModel::yuv)
    format.matrix = av_color_space_name(frame.colorspace);

  const bool palette = has(*layout, AV_PIX_FMT_FLAG_PAL);
  const bool alpha = palette || has(*layout, AV_PIX_FMT_FLAG_ALPHA);
  const std::string_view names = component_names(format.model, alpha);
  int deepest = 0;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const int depth = palette ? 8 : layout->comp[i].depth;
    const bool chroma = is_chroma(format, i);
    format.planes.push_back(
        {names[i], chroma ? AV_CEIL_RSHIFT(frame.width, layout->log2_chroma_w) : frame.width,
         chroma ? AV_CEIL_RSHIFT(frame.height, layout->log2_chroma_h) : frame.height, depth});
    deepest = std::max(deepest, depth);
  }
  format.sample = deepest <= 8 ? SampleType::u8 : deepest <= 16 ? SampleType::u16 : SampleType::f32;
  if (has(*layout, AV_PIX_FMT_FLAG_FLOAT) ? deepest != 32 : deepest > 16)
    return Failure{
        FailureKind::mismatch,
        fmt::format("pixel format {}: only integers of up to 16 bits and floats of 32 bits can be compared",
                    layout->name)};
  return format;
}

Result<Frame> unpack(FramePtr native, std::shared_ptr<const FrameFormat> format) {
  const AVPixFmtDescriptor& layout = *av_pix_fmt_desc_get(static_cast<AVPixelFormat>(native->format));
  const std::size_t bytes = sample_bytes(format->sample);
  Frame frame;
  frame.format = format;
  SampleStorage storage(*format);
  for (std::size_t i = 0; i < format->planes.size(); ++i) {
    const PlaneFormat& shape = format->planes[i];
    const AVComponentDescriptor& component = layout.comp[i];
    if (lies_ready(layout, component, bytes)) {
      frame.planes.push_back({reinterpret_cast<const std::byte*>(native->data[component.plane]),
                              native->linesize[component.plane]});
      continue;
    }
    std::byte* out = storage.allocate(i);
    if (has(layout, AV_PIX_FMT_FLAG_PAL))
      look_up(*native, i, shape, out);
    else if (is_strided_bytes(layout, component))
      gather_bytes(*native, component, shape, reinterpret_cast<std::uint8_t*>(out));
    else
      read_component(*native, layout, static_cast<int>(i), shape, format->sample, out);
    frame.planes.push_back({out, storage.stride_bytes(i)});
  }
  frame.storage = storage.share();
  frame.native = std::shared_ptr<const AVFrame>(native.release(), [](const AVFrame* held) {
    AVFrame* owned = const_cast<AVFrame*>(held);
    av_frame_free(&owned);
  });
  frame.not_finite = count_not_finite(frame);
  return frame;
}

Digest frame_digest(const AVFrame& frame) {
  const auto pixel_format = static_cast<AVPixelFormat>(frame.format);
  const AVPixFmtDescriptor& layout = *av_pix_fmt_desc_get(pixel_format);
  int widths[4] = {};
  av_image_fill_linesizes(widths, pixel_format, frame.width);
  Sha256 sha;
  for (int plane = 0; plane < 4 && widths[plane] > 0; ++plane) {
    const bool chroma = plane == 1 || plane == 2;
    const int height = chroma ? AV_CEIL_RSHIFT(frame.height, layout.log2_chroma_h) : frame.height;
    const auto* data = reinterpret_cast<const std::byte*>(frame.data[plane]);
    const auto width = static_cast<std::size_t>(widths[plane]);
    if (frame.linesize[plane] == widths[plane]) {
      sha.update({data, width * static_cast<std::size_t>(height)});
      continue;
    }
    for (int y = 0; y < height; ++y)
      sha.update({data + static_cast<std::ptrdiff_t>(y) * frame.linesize[plane], width});
  }
  if (has(layout, AV_PIX_FMT_FLAG_PAL))
    sha.update({reinterpret_cast<const std::byte*>(frame.data[1]), AVPALETTE_SIZE});
  return sha.finish();
}

}  // namespace bitproof::metrics
