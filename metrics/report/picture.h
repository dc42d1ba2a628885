// Pictures of a pair of frames for a page: both frames, and where they differ.
#pragma once

#include <string>

#include "metrics/metric/metric.h"

namespace bitproof::metrics {

struct Pictures {
  std::string a, b;  // data URIs, JPEG, at most kWidest pixels wide; empty when there is no conversion to RGB
  std::string
      difference;   // data URI, PNG: dark where equal, brightest at `peak`; logarithmic, so that 1 is seen
  double peak = 0;  // the greatest difference of a sample, in steps of its depth (floating point: as is)
};

inline constexpr int kWidestPicture = 480;

Pictures draw(const FramePair& pair);

}  // namespace bitproof::metrics
