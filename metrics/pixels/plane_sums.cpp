#include "metrics/pixels/plane_sums.h"

#include <cstring>
#include <utility>
#include <vector>

#include "metrics/pixels/block_sums.h"
#include "metrics/pixels/window_distance.h"

namespace bitproof::metrics {
namespace {

template <class T>
bool same_bits(PlaneView<T> a, PlaneView<T> b) {
  const std::size_t row_bytes = sizeof(T) * static_cast<std::size_t>(a.width);
  for (int y = 0; y < a.height; ++y)
    if (std::memcmp(a.row(y), b.row(y), row_bytes) != 0) return false;
  return true;
}

// The samples from column `left` on in rows [top, bottom).
template <class T>
std::uint64_t squared_error(PlaneView<T> a, PlaneView<T> b, int left, int top, int bottom) {
  std::uint64_t sum = 0;
  for (int y = top; y < bottom; ++y) {
    for (int x = left; x < a.width; ++x) {
      const std::int64_t difference = std::int64_t{a.row(y)[x]} - b.row(y)[x];
      sum += static_cast<std::uint64_t>(difference * difference);
    }
  }
  return sum;
}

// Below 2^53 per row: 2^14 blocks of 16 squares below 2^32.
double row_error(const BlockRow& row) { return sum_in_fixed_order(row.error); }

// Adds the squared errors and the windows' distances of the whole blocks to `sums`.
template <class T>
std::uint64_t sum_whole_blocks(PlaneView<T> a, PlaneView<T> b, int depth, PlaneSums& sums) {
  const int rows = a.height / 4;
  const auto columns = static_cast<std::size_t>(a.width / 4);
  if (rows == 0 || columns == 0) return 0;
  const SsimConstants constants = SsimConstants::of_depth(depth);
  BlockRow upper(columns), lower(columns);
  std::vector<double> scratch(columns);
  std::uint64_t error = 0;
  double distance = 0;
  for (int y = 0; y < rows; ++y) {
    std::swap(upper, lower);
    sum_blocks(RowPair<T>{a.row(4 * y), a.stride, b.row(4 * y), b.stride}, lower);
    error += static_cast<std::uint64_t>(row_error(lower));
    if (y > 0 && columns > 1) distance += sum_window_distances(upper, lower, constants, scratch);
  }
  if (sums.windows > 0) sums.one_minus_ssim = distance / static_cast<double>(sums.windows);
  return error;
}

void sum_different(PlaneView<float> a, PlaneView<float> b, int, PlaneSums& sums) {
  double sum = 0;
  for (int y = 0; y < a.height; ++y) {
    for (int x = 0; x < a.width; ++x) {
      const double difference = double{a.row(y)[x]} - double{b.row(y)[x]};
      sum += difference * difference;
    }
  }
  sums.mean_squared_error = sum / static_cast<double>(sums.samples);
}

template <class T>
void sum_different(PlaneView<T> a, PlaneView<T> b, int depth, PlaneSums& sums) {
  const int width = a.width / 4 * 4, height = a.height / 4 * 4;
  const std::uint64_t error = sum_whole_blocks(a, b, depth, sums) + squared_error(a, b, width, 0, height) +
                              squared_error(a, b, 0, height, a.height);
  sums.squared_error = error;
  sums.mean_squared_error = static_cast<double>(error) / static_cast<double>(sums.samples);
}

PlaneSums shape_of(const PlaneFormat& plane, SampleType sample) {
  PlaneSums sums;
  sums.samples = plane.samples();
  if (sample == SampleType::f32) return sums;
  const auto columns = static_cast<std::uint64_t>(plane.width / 4),
             rows = static_cast<std::uint64_t>(plane.height / 4);
  if (columns > 1 && rows > 1) sums.windows = (columns - 1) * (rows - 1);
  sums.samples_outside_windows = sums.windows == 0 ? sums.samples : sums.samples - 16 * columns * rows;
  return sums;
}

}  // namespace

PlaneSums plane_sums(const Frame& a, const Frame& b, std::size_t plane) {
  const PlaneFormat& format = a.format->planes[plane];
  PlaneSums sums = shape_of(format, a.format->sample);
  with_views(a, b, plane, [&](auto left, auto right) {
    sums.identical = same_bits(left, right);
    if (!sums.identical)
      sum_different(left, right, format.depth, sums);
    else if (a.format->sample != SampleType::f32)
      sums.squared_error = 0;
  });
  return sums;
}

}  // namespace bitproof::metrics
