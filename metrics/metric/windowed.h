// SSIM with overlapping windows at every position, in double and without cancellation.
#pragma once

#include <vector>

#include "metrics/metric/metric.h"

namespace bitproof::metrics {

struct Image {
  int width = 0, height = 0;
  std::vector<double> samples;  // row by row
};

// The samples of plane `plane` of a, and the differences a - b.
struct ImagePair {
  Image a, difference;
};
ImagePair image_pair(const FramePair& pair, std::size_t plane);

struct Window {
  std::vector<double> weights;   // of one axis; they add up to 1
  double covariance_factor = 1;  // n/(n-1) for the sample covariance of n samples
  static Window gaussian(int side, double sigma);
  static Window uniform_with_sample_covariance(int side);
};

struct StabilityConstants {
  double c1, c2;
};
StabilityConstants stability_constants(const FrameFormat& format,
                                       const PlaneFormat& plane);  // K1 = 0.01, K2 = 0.03

// Means over all windows that lie inside the image, which is at least as large as one.
struct WindowedDistance {
  double one_minus_ssim;       // luminance, contrast and structure
  double one_minus_structure;  // contrast and structure only
};
WindowedDistance windowed_distance(const ImagePair& images, const Window& window,
                                   const StabilityConstants& constants);

// The reason of every windowed metric for leaving out a plane.
std::optional<std::string> too_small(const PlaneFormat& plane, int side);

}  // namespace bitproof::metrics
