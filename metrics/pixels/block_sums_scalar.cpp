#include "metrics/pixels/block_sums.h"
#include "metrics/pixels/window_distance.h"

namespace bitproof::metrics {
namespace {

template <class T>
void sum(const RowPair<T>& rows, BlockRow& out, std::size_t first) {
  for (std::size_t block = first; block < out.a.size(); ++block) {
    std::uint64_t a_sum = 0, b_sum = 0, error = 0, product = 0;
    for (std::ptrdiff_t y = 0; y < 4; ++y) {
      const T* a = rows.a + y * rows.stride_a + 4 * block;
      const T* b = rows.b + y * rows.stride_b + 4 * block;
      for (int x = 0; x < 4; ++x) {
        const std::int64_t difference = std::int64_t{a[x]} - b[x];
        a_sum += a[x];
        b_sum += b[x];
        error += static_cast<std::uint64_t>(difference * difference);
        product += std::uint64_t{a[x]} * b[x];
      }
    }
    out.a[block] = static_cast<double>(a_sum);
    out.b[block] = static_cast<double>(b_sum);
    out.error[block] = static_cast<double>(error);
    out.product[block] = static_cast<double>(product);
  }
}

}  // namespace

void sum_blocks_scalar(const RowPair<std::uint8_t>& rows, BlockRow& out, std::size_t first) {
  sum(rows, out, first);
}
void sum_blocks_scalar(const RowPair<std::uint16_t>& rows, BlockRow& out, std::size_t first) {
  sum(rows, out, first);
}

SsimConstants SsimConstants::of_depth(int depth) {
  const double peak = static_cast<double>((std::int64_t{1} << depth) - 1);
  const auto truncated = [](double value) { return static_cast<double>(static_cast<std::int64_t>(value)); };
  return {truncated(.01 * .01 * peak * peak * 64 + .5), truncated(.03 * .03 * peak * peak * 64 * 63 + .5)};
}

double sum_window_distances_scalar(const BlockRow& upper, const BlockRow& lower, const SsimConstants& constants,
                                   std::span<double> scratch) {
  const std::size_t windows = upper.a.size() - 1;
  for (std::size_t i = 0; i < windows; ++i) {
    const auto over = [&](const std::vector<double>& top, const std::vector<double>& bottom) {
      return (top[i] + bottom[i]) + (top[i + 1] + bottom[i + 1]);
    };
    scratch[i] = window_distance(over(upper.a, lower.a), over(upper.b, lower.b), over(upper.error, lower.error),
                                 over(upper.product, lower.product), constants);
  }
  return sum_in_fixed_order(scratch.first(windows));
}

}  // namespace bitproof::metrics
