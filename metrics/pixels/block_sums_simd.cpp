// Vector code for the block sums and windows, compiled once per instruction set and chosen at run time
// (Highway).
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "metrics/pixels/block_sums.h"
#include "metrics/pixels/window_distance.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "metrics/pixels/block_sums_simd.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bitproof::metrics::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

#if HWY_TARGET == HWY_SCALAR
// One lane holds no neighbours: the scalar code does all blocks.
template <class T>
std::size_t sum_vector(const RowPair<T>&, BlockRow&) {
  return 0;
}
#else

// Lanes hold samples side by side; adding neighbours doubles the lanes' width and keeps their order.
template <class D, class V>
HWY_INLINE auto add_neighbours(D wide, V narrow) {
  constexpr int kBits = static_cast<int>(4 * sizeof(hn::TFromD<D>));
  const auto pairs = hn::BitCast(wide, narrow);
  const auto low = hn::And(pairs, hn::Set(wide, static_cast<hn::TFromD<D> >((1ULL << kBits) - 1)));
  return hn::Add(low, hn::ShiftRight<kBits>(pairs));
}

// Integers below 2^52 to doubles by way of the significand of 2^52.
template <class V>
HWY_INLINE auto to_double(V integers) {
  const hn::DFromV<V> d64;
  const hn::RebindToFloat<decltype(d64)> df64;
  const auto two_to_52 = hn::Set(d64, 0x4330000000000000ULL);
  return hn::Sub(hn::BitCast(df64, hn::Or(integers, two_to_52)), hn::BitCast(df64, two_to_52));
}

// 8-bit samples: squares and products fit in 16 bits, four rows of pairs of them in 32.
std::size_t sum_vector(const RowPair<std::uint8_t>& rows, BlockRow& out) {
  const hn::ScalableTag<std::uint16_t> d16;
  const hn::Rebind<std::uint8_t, decltype(d16)> d8;
  const hn::RepartitionToWide<decltype(d16)> d32;
  const hn::RepartitionToWide<decltype(d32)> d64;
  const hn::RebindToFloat<decltype(d64)> df64;
  const std::size_t step = hn::Lanes(d64);  // blocks
  std::size_t block = 0;
  for (; block + step <= out.a.size(); block += step) {
    auto a_sum = hn::Zero(d16), b_sum = hn::Zero(d16);
    auto error = hn::Zero(d32), product = hn::Zero(d32);
    for (std::ptrdiff_t y = 0; y < 4; ++y) {
      const auto a = hn::PromoteTo(d16, hn::LoadU(d8, rows.a + y * rows.stride_a + 4 * block));
      const auto b = hn::PromoteTo(d16, hn::LoadU(d8, rows.b + y * rows.stride_b + 4 * block));
      const auto difference = hn::Sub(a, b);  // modulo 2^16, of which the square is exact
      a_sum = hn::Add(a_sum, a);
      b_sum = hn::Add(b_sum, b);
      error = hn::Add(error, add_neighbours(d32, hn::Mul(difference, difference)));
      product = hn::Add(product, add_neighbours(d32, hn::Mul(a, b)));
    }
    hn::StoreU(to_double(add_neighbours(d64, add_neighbours(d32, a_sum))), df64, out.a.data() + block);
    hn::StoreU(to_double(add_neighbours(d64, add_neighbours(d32, b_sum))), df64, out.b.data() + block);
    hn::StoreU(to_double(add_neighbours(d64, error)), df64, out.error.data() + block);
    hn::StoreU(to_double(add_neighbours(d64, product)), df64, out.product.data() + block);
  }
  return block;
}

// 16-bit samples: squares and products fit in 32 bits, sums of them in 64. One vector holds half-blocks side by
// side, which the second loop joins.
std::size_t sum_vector(const RowPair<std::uint16_t>& rows, BlockRow& out) {
  const hn::ScalableTag<std::uint32_t> d32;
  const hn::Rebind<std::uint16_t, decltype(d32)> d16;
  const hn::RepartitionToWide<decltype(d32)> d64;
  const std::size_t halves = hn::Lanes(d64);
  const std::size_t step = halves / 2;  // blocks
  if (step == 0) return 0;
  HWY_ALIGN std::uint64_t lanes[4][HWY_MAX_BYTES / sizeof(std::uint64_t)];
  std::size_t block = 0;
  for (; block + step <= out.a.size(); block += step) {
    auto a_sum = hn::Zero(d32), b_sum = hn::Zero(d32);
    auto error = hn::Zero(d64), product = hn::Zero(d64);
    for (std::ptrdiff_t y = 0; y < 4; ++y) {
      const auto a = hn::PromoteTo(d32, hn::LoadU(d16, rows.a + y * rows.stride_a + 4 * block));
      const auto b = hn::PromoteTo(d32, hn::LoadU(d16, rows.b + y * rows.stride_b + 4 * block));
      const auto difference = hn::Sub(a, b);  // modulo 2^32, of which the square is exact
      a_sum = hn::Add(a_sum, a);
      b_sum = hn::Add(b_sum, b);
      error = hn::Add(error, add_neighbours(d64, hn::Mul(difference, difference)));
      product = hn::Add(product, add_neighbours(d64, hn::Mul(a, b)));
    }
    hn::Store(add_neighbours(d64, a_sum), d64, lanes[0]);
    hn::Store(add_neighbours(d64, b_sum), d64, lanes[1]);
    hn::Store(error, d64, lanes[2]);
    hn::Store(product, d64, lanes[3]);
    for (std::size_t i = 0; i < step; ++i) {
      out.a[block + i] = static_cast<double>(lanes[0][2 * i] + lanes[0][2 * i + 1]);
      out.b[block + i] = static_cast<double>(lanes[1][2 * i] + lanes[1][2 * i + 1]);
      out.error[block + i] = static_cast<double>(lanes[2][2 * i] + lanes[2][2 * i + 1]);
      out.product[block + i] = static_cast<double>(lanes[3][2 * i] + lanes[3][2 * i + 1]);
    }
  }
  return block;
}
#endif

void sum_blocks_8(const RowPair<std::uint8_t>& rows, BlockRow& out) {
  sum_blocks_scalar(rows, out, sum_vector(rows, out));
}

void sum_blocks_16(const RowPair<std::uint16_t>& rows, BlockRow& out) {
  sum_blocks_scalar(rows, out, sum_vector(rows, out));
}

// window_distance() on vectors: the same operations in the same order, none fused.
double sum_windows(const BlockRow& upper, const BlockRow& lower, const SsimConstants& constants,
                   std::span<double> scratch) {
  const hn::ScalableTag<double> d;
  const auto over = [&](const std::vector<double>& top, const std::vector<double>& bottom, std::size_t i) {
    const auto left = hn::Add(hn::LoadU(d, top.data() + i), hn::LoadU(d, bottom.data() + i));
    const auto right = hn::Add(hn::LoadU(d, top.data() + i + 1), hn::LoadU(d, bottom.data() + i + 1));
    return hn::Add(left, right);
  };
  const auto two = hn::Set(d, 2.0), sixty_four = hn::Set(d, 64.0);
  const auto c1 = hn::Set(d, constants.c1), c2 = hn::Set(d, constants.c2);
  const std::size_t windows = upper.a.size() - 1;
  std::size_t i = 0;
  for (; i + hn::Lanes(d) <= windows; i += hn::Lanes(d)) {
    const auto a = over(upper.a, lower.a, i), b = over(upper.b, lower.b, i);
    const auto error = over(upper.error, lower.error, i), product = over(upper.product, lower.product, i);
    const auto mean_difference = hn::Sub(a, b);
    const auto mean_gap = hn::Mul(mean_difference, mean_difference);
    const auto gap = hn::Sub(hn::Mul(sixty_four, error), mean_gap);
    const auto cross = hn::Mul(a, b);
    const auto n1 = hn::Add(hn::Mul(two, cross), c1);
    const auto n2 = hn::Add(hn::Mul(two, hn::Sub(hn::Mul(sixty_four, product), cross)), c2);
    const auto d1 = hn::Add(n1, mean_gap), d2 = hn::Add(n2, gap);
    const auto numerator = hn::Add(hn::Mul(d1, gap), hn::Mul(n2, mean_gap));
    hn::StoreU(hn::Div(numerator, hn::Mul(d1, d2)), d, scratch.data() + i);
  }
  for (; i < windows; ++i) {
    const auto sum = [&](const std::vector<double>& top, const std::vector<double>& bottom) {
      return (top[i] + bottom[i]) + (top[i + 1] + bottom[i + 1]);
    };
    scratch[i] = window_distance(sum(upper.a, lower.a), sum(upper.b, lower.b), sum(upper.error, lower.error),
                                 sum(upper.product, lower.product), constants);
  }
  return sum_in_fixed_order(scratch.first(windows));
}

}  // namespace bitproof::metrics::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bitproof::metrics {

HWY_EXPORT(sum_blocks_8);
HWY_EXPORT(sum_blocks_16);
HWY_EXPORT(sum_windows);

void sum_blocks(const RowPair<std::uint8_t>& rows, BlockRow& out) {
  HWY_DYNAMIC_DISPATCH(sum_blocks_8)(rows, out);
}
void sum_blocks(const RowPair<std::uint16_t>& rows, BlockRow& out) {
  HWY_DYNAMIC_DISPATCH(sum_blocks_16)(rows, out);
}

double sum_window_distances(const BlockRow& upper, const BlockRow& lower, const SsimConstants& constants,
                            std::span<double> scratch) {
  return HWY_DYNAMIC_DISPATCH(sum_windows)(upper, lower, constants, scratch);
}

}  // namespace bitproof::metrics
#endif
