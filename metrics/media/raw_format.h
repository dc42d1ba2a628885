// Headerless video has to be described: "832x480:yuv420p10le", size and FFmpeg's name of the pixel format.
#pragma once

#include <string>
#include <string_view>

#include "metrics/result.h"

namespace bitproof::metrics {

struct RawFormat {
  int width, height;
  std::string pixel_format;
  bool operator==(const RawFormat&) const = default;
};

Result<RawFormat> parse_raw_format(std::string_view text);

}  // namespace bitproof::metrics
