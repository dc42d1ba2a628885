#include "metrics/metric/windowed.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <numeric>

#include <fmt/format.h>

namespace bitproof::metrics {
namespace {

// Weighted means over a window: of a, of d = a - b, and of their products.
enum Moment { kA, kD, kAA, kDD, kAD, kMoments };
using MomentRows = std::array<std::vector<double>, kMoments>;

// Filters the products of one row along the row.
MomentRows filter_row(const double* a, const double* d, int width, const std::vector<double>& weights) {
  const std::size_t outputs = static_cast<std::size_t>(width) - weights.size() + 1;
  MomentRows rows;
  for (auto& row : rows) row.assign(outputs, 0);
  for (std::size_t k = 0; k < weights.size(); ++k) {
    const double weight = weights[k];
    for (std::size_t x = 0; x < outputs; ++x) {
      const double a_k = a[x + k], d_k = d[x + k];
      rows[kA][x] += weight * a_k;
      rows[kD][x] += weight * d_k;
      rows[kAA][x] += weight * (a_k * a_k);
      rows[kDD][x] += weight * (d_k * d_k);
      rows[kAD][x] += weight * (a_k * d_k);
    }
  }
  return rows;
}

struct Sums {
  double ssim = 0, structure = 0;
};

// With b = a - d: mean_b = mean_a - mean_d, cov_ab = var_a - cov_ad, var_a + var_b - 2 cov_ab = var_d. So the
// denominators of SSIM exceed its numerators by mean_d^2 and var_d, and 1 - SSIM needs no subtraction from 1.
Sums sum_windows(const MomentRows& means, double factor, const StabilityConstants& constants) {
  Sums sums;
  for (std::size_t x = 0; x < means[kA].size(); ++x) {
    const double mean_a = means[kA][x], mean_d = means[kD][x];
    const double var_a = factor * (means[kAA][x] - mean_a * mean_a);
    const double var_d = std::max(0.0, factor * (means[kDD][x] - mean_d * mean_d));
    const double cov_ad = factor * (means[kAD][x] - mean_a * mean_d);
    const double mean_gap = mean_d * mean_d;
    const double n1 = 2 * mean_a * (mean_a - mean_d) + constants.c1, d1 = n1 + mean_gap;
    const double n2 = 2 * (var_a - cov_ad) + constants.c2, d2 = n2 + var_d;
    sums.ssim += (d1 * var_d + n2 * mean_gap) / (d1 * d2);
    sums.structure += var_d / d2;
  }
  return sums;
}

}  // namespace

ImagePair image_pair(const FramePair& pair, std::size_t plane) {
  const PlaneFormat& shape = pair.a.format->planes[plane];
  ImagePair images{{shape.width, shape.height, {}}, {shape.width, shape.height, {}}};
  images.a.samples.reserve(shape.samples());
  images.difference.samples.reserve(shape.samples());
  with_views(pair.a, pair.b, plane, [&](auto a, auto b) {
    for (int y = 0; y < shape.height; ++y) {
      for (int x = 0; x < shape.width; ++x) {
        const auto left = static_cast<double>(a.row(y)[x]);
        images.a.samples.push_back(left);
        images.difference.samples.push_back(left - static_cast<double>(b.row(y)[x]));
      }
    }
  });
  return images;
}

Window Window::gaussian(int side, double sigma) {
  std::vector<double> weights;
  for (int i = 0; i < side; ++i) {
    const double offset = i - (side - 1) / 2.0;
    weights.push_back(std::exp(-offset * offset / (2 * sigma * sigma)));
  }
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return {std::move(weights), 1};
}

Window Window::uniform_with_sample_covariance(int side) {
  const double samples = static_cast<double>(side) * side;
  return {std::vector<double>(static_cast<std::size_t>(side), 1.0 / side), samples / (samples - 1)};
}

StabilityConstants stability_constants(const FrameFormat& format, const PlaneFormat& plane) {
  const double range =
      format.sample == SampleType::f32 ? 1 : static_cast<double>((std::int64_t{1} << plane.depth) - 1);
  return {(0.01 * range) * (0.01 * range), (0.03 * range) * (0.03 * range)};
}

WindowedDistance windowed_distance(const ImagePair& images, const Window& window,
                                   const StabilityConstants& constants) {
  const auto width = static_cast<std::size_t>(images.a.width),
             height = static_cast<std::size_t>(images.a.height);
  const std::size_t side = window.weights.size();
  const std::size_t columns = width - side + 1, rows = height - side + 1;
  std::vector<MomentRows> ring(side);  // the last `side` rows, filtered along the row
  Sums total;
  MomentRows means;
  for (std::size_t y = 0; y < height; ++y) {
    const double* a = images.a.samples.data() + y * width;
    const double* d = images.difference.samples.data() + y * width;
    ring[y % side] = filter_row(a, d, images.a.width, window.weights);
    if (y + 1 < side) continue;
    for (std::size_t moment = 0; moment < kMoments; ++moment) {
      means[moment].assign(columns, 0);
      for (std::size_t k = 0; k < side; ++k) {
        const std::vector<double>& row = ring[(y + 1 + k) % side][moment];  // oldest first
        for (std::size_t x = 0; x < columns; ++x) means[moment][x] += window.weights[k] * row[x];
      }
    }
    const Sums sums = sum_windows(means, window.covariance_factor, constants);
    total.ssim += sums.ssim;
    total.structure += sums.structure;
  }
  const double windows = static_cast<double>(columns) * static_cast<double>(rows);
  return {total.ssim / windows, total.structure / windows};
}

std::optional<std::string> too_small(const PlaneFormat& plane, int side) {
  if (plane.width >= side && plane.height >= side) return std::nullopt;
  return fmt::format("{}x{} samples are too few for a window of {}x{}", plane.width, plane.height, side, side);
}

}  // namespace bitproof::metrics
