// One pass over a pair of planes: the exact sum of squared errors, and the SSIM of FFmpeg's ssim filter (8x8
// windows in steps of 4, from integer sums). Both fall out of the same sums over 4x4 blocks.
#pragma once

#include <cstdint>
#include <optional>

#include "metrics/media/frame.h"

namespace bitproof::metrics {

struct PlaneSums {
  bool identical = false;  // every sample has the same bits
  std::uint64_t samples = 0;
  std::optional<std::uint64_t> squared_error;  // exact; nothing for floating-point samples
  double mean_squared_error = 0;

  // Windows lie in whole 4x4 blocks: a plane of less than 8x8 samples has none, and up to 3 columns on the
  // right and rows at the bottom lie outside all of them. Floating-point planes have none either.
  std::uint64_t windows = 0;
  std::uint64_t samples_outside_windows = 0;
  double one_minus_ssim = 0;  // mean over the windows of 1 - SSIM; 0 exactly when the windows are identical

  bool operator==(const PlaneSums&) const = default;
};

// The formats of the frames are equal.
PlaneSums plane_sums(const Frame& a, const Frame& b, std::size_t plane);

}  // namespace bitproof::metrics
