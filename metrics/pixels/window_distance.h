// 1 - SSIM of one window without cancellation.
#pragma once

#include <array>
#include <cstddef>
#include <span>

#include "metrics/pixels/block_sums.h"

namespace bitproof::metrics {

// SSIM = n1 n2 / (d1 d2) over the 64 samples of a window, with
//   n1 = 2 A B + c1               d1 = A^2 + B^2 + c1             A, B: sums of the samples
//   n2 = 2 (64 P - A B) + c2      d2 = 64 S - A^2 - B^2 + c2      P: sum of a b, S: sum of a^2 + b^2
// and with E the sum of (a - b)^2:
//   d1 - n1 = (A - B)^2           d2 - n2 = 64 E - (A - B)^2
// so 1 - SSIM = (d1 (d2 - n2) + n2 (d1 - n1)) / (d1 d2). All of these are integers below 2^53, hence exact in
// double up to the products of the last line, and a window without a difference gives 0 exactly.
inline double window_distance(double a, double b, double error, double product,
                              const SsimConstants& constants) {
  const double mean_gap = (a - b) * (a - b);  // d1 - n1
  const double gap = 64 * error - mean_gap;   // d2 - n2
  const double cross = a * b;
  const double n1 = 2 * cross + constants.c1;
  const double n2 = 2 * (64 * product - cross) + constants.c2;
  const double d1 = n1 + mean_gap;
  const double d2 = n2 + gap;
  return (d1 * gap + n2 * mean_gap) / (d1 * d2);
}

// Four running sums over every fourth value: as fast as the hardware adds, and the same on every instruction
// set.
inline double sum_in_fixed_order(std::span<const double> values) {
  std::array<double, 4> sums{};
  std::size_t i = 0;
  for (; i + 4 <= values.size(); i += 4)
    for (std::size_t lane = 0; lane < 4; ++lane) sums[lane] += values[i + lane];
  for (std::size_t lane = 0; i < values.size(); ++i, ++lane) sums[lane] += values[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

}  // namespace bitproof::metrics
