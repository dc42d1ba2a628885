#include <cstdint>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "metrics/pixels/block_sums.h"
#include "metrics/pixels/plane_sums.h"
#include "metrics/pixels/window_distance.h"

namespace bitproof::metrics {
namespace {

template <class T>
Frame frame_of(const std::vector<T>& samples, int width, int height, int depth) {
  auto format = std::make_shared<FrameFormat>();
  format->sample = sizeof(T) == 1 ? SampleType::u8 : SampleType::u16;
  format->width = width;
  format->height = height;
  format->planes = {{'y', width, height, depth}};
  Frame frame;
  frame.planes = {
      {reinterpret_cast<const std::byte*>(samples.data()), static_cast<std::ptrdiff_t>(sizeof(T)) * width}};
  frame.format = std::move(format);
  return frame;
}

template <class T>
PlaneSums sums_of(const std::vector<T>& a, const std::vector<T>& b, int width, int height, int depth) {
  return plane_sums(frame_of(a, width, height, depth), frame_of(b, width, height, depth), 0);
}

TEST(PlaneSums, OneSampleOffByOneInTheOnlyWindow) {
  // 8x8 samples of 100, one of b is 101: A = 6400, B = 6401, E = 1, P = 640100; c1 = 416, c2 = 235963 (FFmpeg's
  // rounding). d1 - n1 = 1, d2 - n2 = 64 - 1 = 63, n1 = 2*6400*6401 + 416 = 81933216, d1 = n1 + 1, n2 =
  // 2*(64*640100 - 6400*6401) + c2 = 2*0 + 235963, d2 = n2 + 63.
  std::vector<std::uint8_t> a(64, 100), b = a;
  b[27] = 101;
  const PlaneSums sums = sums_of(a, b, 8, 8, 8);
  EXPECT_FALSE(sums.identical);
  EXPECT_EQ(sums.squared_error, 1U);
  EXPECT_EQ(sums.windows, 1U);
  const double expected = (81933217.0 * 63 + 235963.0 * 1) / (81933217.0 * 236026.0);
  EXPECT_EQ(sums.one_minus_ssim, expected);
}

TEST(PlaneSums, ConstantsAreRoundedAsFfmpegRoundsThem) {
  // 0.0001 * 255^2 * 64 = 416.16; 0.0009 * 255^2 * 64 * 63 = 235963.3 (both + 0.5, truncated).
  EXPECT_EQ(SsimConstants::of_depth(8).c1, 416.0);
  EXPECT_EQ(SsimConstants::of_depth(8).c2, 235963.0);
}

TEST(PlaneSums, TheGreatestErrorsOfSixteenBitsAreExact) {
  // 9 rows of 9 samples, all different by 65535: 81 * 65535^2.
  const std::vector<std::uint16_t> a(81, 0), b(81, 65535);
  const PlaneSums sums = sums_of(a, b, 9, 9, 16);
  EXPECT_EQ(sums.squared_error, 81ULL * 65535 * 65535);
  EXPECT_EQ(sums.samples_outside_windows, 81U - 64U);
}

TEST(PlaneSums, PlanesSmallerThanAWindowHaveErrorsAndNoWindow) {
  const std::vector<std::uint8_t> a(49, 7);
  std::vector<std::uint8_t> b = a;
  b[48] = 10;
  const PlaneSums sums = sums_of(a, b, 7, 7, 8);
  EXPECT_EQ(sums.squared_error, 9U);
  EXPECT_EQ(sums.windows, 0U);
  EXPECT_EQ(sums.samples_outside_windows, 49U);
}

TEST(PlaneSums, ASingleRowOfBlocksHasNoWindow) {
  const std::vector<std::uint8_t> a(16 * 4, 7), b(16 * 4, 8);
  const PlaneSums sums = sums_of(a, b, 16, 4, 8);
  EXPECT_EQ(sums.squared_error, 64U);
  EXPECT_EQ(sums.windows, 0U);
}

// The definition, sample by sample.
template <class T>
PlaneSums by_definition(const std::vector<T>& a, const std::vector<T>& b, int width, int height, int depth) {
  PlaneSums sums;
  sums.identical = a == b;
  sums.samples = a.size();
  std::uint64_t error = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::int64_t difference = std::int64_t{a[i]} - b[i];
    error += static_cast<std::uint64_t>(difference * difference);
  }
  sums.squared_error = error;
  sums.mean_squared_error = static_cast<double>(error) / static_cast<double>(sums.samples);
  const SsimConstants constants = SsimConstants::of_depth(depth);
  double distance = 0;
  for (int top = 0; top + 8 <= height; top += 4) {
    for (int left = 0; left + 8 <= width; left += 4) {
      double sum_a = 0, sum_b = 0, window_error = 0, product = 0;
      for (int y = top; y < top + 8; ++y) {
        for (int x = left; x < left + 8; ++x) {
          const auto i = static_cast<std::size_t>(y * width + x);
          const double va = a[i], vb = b[i];
          sum_a += va;
          sum_b += vb;
          window_error += (va - vb) * (va - vb);
          product += va * vb;
        }
      }
      distance += window_distance(sum_a, sum_b, window_error, product, constants);
      ++sums.windows;
    }
  }
  if (sums.windows > 0) sums.one_minus_ssim = distance / static_cast<double>(sums.windows);
  return sums;
}

template <class T>
void expect_definition(int depth) {
  const int width = *rc::gen::inRange(1, 150), height = *rc::gen::inRange(1, 40);
  const auto samples = rc::gen::container<std::vector<T>>(
      static_cast<std::size_t>(width * height), rc::gen::inRange<T>(0, static_cast<T>((1 << depth) - 1)));
  const std::vector<T> a = *samples, b = *samples;
  const PlaneSums sums = sums_of(a, b, width, height, depth),
                  expected = by_definition(a, b, width, height, depth);
  RC_ASSERT(sums.squared_error == expected.squared_error);
  RC_ASSERT(sums.windows == expected.windows);
  RC_ASSERT(sums.identical == expected.identical);
  // The sums are exact and only their order differs.
  RC_ASSERT(std::abs(sums.one_minus_ssim - expected.one_minus_ssim) <= 1e-13);
}

RC_GTEST_PROP(PlaneSumsProperty, EightBitsEqualTheDefinitionAtEverySize, ()) {
  expect_definition<std::uint8_t>(8);
}
RC_GTEST_PROP(PlaneSumsProperty, TwelveBitsEqualTheDefinitionAtEverySize, ()) {
  expect_definition<std::uint16_t>(12);
}
RC_GTEST_PROP(PlaneSumsProperty, SixteenBitsEqualTheDefinitionAtEverySize, ()) {
  expect_definition<std::uint16_t>(16);
}

template <class T>
void expect_scalar_bits() {
  const std::size_t blocks = *rc::gen::inRange<std::size_t>(2, 70);
  const auto samples = rc::gen::container<std::vector<T>>(2 * 16 * blocks, rc::gen::arbitrary<T>());
  const std::vector<T> a = *samples, b = *samples;
  const auto stride = static_cast<std::ptrdiff_t>(4 * blocks);
  const auto rows = [&](std::size_t first) {
    return RowPair<T>{a.data() + first, stride, b.data() + first, stride};
  };
  BlockRow upper(blocks), lower(blocks), upper_scalar(blocks), lower_scalar(blocks);
  sum_blocks(rows(0), upper);
  sum_blocks(rows(16 * blocks), lower);
  sum_blocks_scalar(rows(0), upper_scalar);
  sum_blocks_scalar(rows(16 * blocks), lower_scalar);
  RC_ASSERT(upper.a == upper_scalar.a);
  RC_ASSERT(upper.b == upper_scalar.b);
  RC_ASSERT(upper.error == upper_scalar.error);
  RC_ASSERT(upper.product == upper_scalar.product);
  const SsimConstants constants = SsimConstants::of_depth(8 * static_cast<int>(sizeof(T)));
  std::vector<double> scratch(blocks);
  RC_ASSERT(sum_window_distances(upper, lower, constants, scratch) ==
            sum_window_distances_scalar(upper_scalar, lower_scalar, constants, scratch));
}

RC_GTEST_PROP(BlockSumsProperty, VectorAndScalarCodeGiveTheSameBitsForEightBits, ()) {
  expect_scalar_bits<std::uint8_t>();
}
RC_GTEST_PROP(BlockSumsProperty, VectorAndScalarCodeGiveTheSameBitsForSixteenBits, ()) {
  expect_scalar_bits<std::uint16_t>();
}

}  // namespace
}  // namespace bitproof::metrics
