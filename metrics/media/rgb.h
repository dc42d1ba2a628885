// R, G, B pictures of frames, for metrics that are defined on RGB and for people to look at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "metrics/media/frame.h"
#include "metrics/result.h"

namespace bitproof::metrics {

// Interleaved, values from 0 to peak.
struct RgbImage {
  int width = 0, height = 0;
  float peak = 255;
  std::vector<float> samples;
};

class RgbConverter {
 public:
  RgbConverter();
  ~RgbConverter();
  RgbConverter(RgbConverter&&) noexcept;
  RgbConverter& operator=(RgbConverter&&) noexcept;

  // RGB and gray samples are taken over as they are; YUV goes through libswscale. Alpha is left out.
  Result<RgbImage> convert(const Frame& frame);

  // What convert() does with such frames, in full: converter, version, matrix, range, and what had to be
  // assumed.
  static std::string describe(const FrameFormat& format);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace bitproof::metrics
