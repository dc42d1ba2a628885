#include "metrics/media/raw_format.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>
extern "C" {
#include <libavutil/pixdesc.h>
}

namespace bitproof::metrics {
namespace {

constexpr int kLargestSide = 32768;  // keeps every size in bytes within int

std::optional<int> parse_side(std::string_view text) {
  int side = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), side);
  if (error != std::errc{} || end != text.data() + text.size() || side < 1 || side > kLargestSide)
    return std::nullopt;
  return side;
}

}  // namespace

Result<RawFormat> parse_raw_format(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view size = text.substr(0, colon);
  const std::size_t cross = size.find('x');
  if (colon == std::string_view::npos || cross == std::string_view::npos)
    return Failure{FailureKind::usage,
                   fmt::format("raw format '{}': expected WIDTHxHEIGHT:PIXEL_FORMAT, such as "
                               "832x480:yuv420p",
                               text)};
  const std::optional<int> width = parse_side(size.substr(0, cross));
  const std::optional<int> height = parse_side(size.substr(cross + 1));
  if (!width || !height)
    return Failure{FailureKind::usage,
                   fmt::format("raw format '{}': sides are whole numbers from 1 to {}", text, kLargestSide)};
  std::string pixel_format(text.substr(colon + 1));
  if (av_get_pix_fmt(pixel_format.c_str()) == AV_PIX_FMT_NONE)
    return Failure{FailureKind::usage,
                   fmt::format("raw format '{}': '{}' is no pixel format of FFmpeg (`ffmpeg "
                               "-pix_fmts` lists them)",
                               text, pixel_format)};
  return RawFormat{*width, *height, std::move(pixel_format)};
}

}  // namespace bitproof::metrics
