// One sample of one frame of 81 differs by one: the smallest difference there is must not disappear anywhere.
#include <cmath>

#include <gtest/gtest.h>

#include "metrics/report/text.h"
#include "tests/metrics/support/clip.h"
#include "tests/metrics/support/files.h"

namespace bitproof::metrics::test {
namespace {

constexpr int kFrames = 81;
constexpr int kChanged = 40;

// 66 columns: 64 in windows, 2 outside.
Shape wide() { return {"yuv420p", "420jpeg", 66, 48, 3, 1, 1, 8}; }

Outcome compare_with_one_changed(int x, int y) {
  const TemporaryDirectory folder;
  const Shape shape = wide();
  Clip clip = make_clip(shape, kFrames, 1, 3);
  write_clip(folder / "a.y4m", shape, clip);
  std::uint16_t& sample = clip[kChanged][0][static_cast<std::size_t>(y * shape.width + x)];
  sample = static_cast<std::uint16_t>(sample > 100 ? sample - 1 : sample + 1);
  write_clip(folder / "b.y4m", shape, clip);
  return compare_files(folder / "a.y4m", folder / "b.y4m");
}

TEST(OneSample, InsideAWindow) {
  const Outcome outcome = compare_with_one_changed(12, 30);
  EXPECT_EQ(outcome.verdict(), Verdict::different);
  EXPECT_EQ(outcome.exit_status(), 0);  // no threshold was asked for
  EXPECT_EQ(outcome.compared, 81U);
  EXPECT_EQ(outcome.identical_frames, 80U);
  EXPECT_EQ(outcome.equal_frame_digests, 80U);
  EXPECT_EQ(outcome.squared_error, 1U);
  ASSERT_EQ(outcome.worst.size(), 1U);
  EXPECT_EQ(outcome.worst[0].index_a, 40U);
  EXPECT_EQ(outcome.worst[0].squared_error, 1U);
  ASSERT_TRUE(outcome.first_difference);
  EXPECT_EQ(outcome.first_difference->frame_a, 40U);
  EXPECT_EQ(outcome.first_difference->plane, 'y');
  EXPECT_EQ(outcome.first_difference->x, 12);
  EXPECT_EQ(outcome.first_difference->y, 30);

  const Score& ssim = score_of(outcome, "ssim", "all");
  EXPECT_LT(*ssim.value, 1.0);
  EXPECT_GT(*ssim.one_minus, 0.0);
  EXPECT_FALSE(ssim.best);
  EXPECT_EQ(show(ssim).substr(0, 4), "1 - ");  // never "1.000000"
  // One error among 81 * (66*48 + 2*33*24) samples: MSE = 1/384912, 10 log10(255^2 * 384912) = 103.98...
  EXPECT_DOUBLE_EQ(*score_of(outcome, "psnr", "average").value, 10 * std::log10(255.0 * 255 * 384912));
  EXPECT_TRUE(score_of(outcome, "psnr", "u").best);
}

TEST(OneSample, OutsideAllWindows) {
  const Outcome outcome = compare_with_one_changed(65, 30);
  EXPECT_EQ(outcome.verdict(), Verdict::different);
  EXPECT_EQ(outcome.squared_error, 1U);
  EXPECT_EQ(outcome.identical_frames, 80U);
  const Score& ssim = score_of(outcome, "ssim", "all");
  EXPECT_EQ(*ssim.value, 1.0);
  EXPECT_EQ(show(ssim), "1");
  // 2 columns of 48 samples.
  EXPECT_NE(std::find(outcome.warnings.begin(), outcome.warnings.end(),
                      "SSIM: plane y: 96 of 3168 samples lie outside all windows"),
            outcome.warnings.end());
}

TEST(OneSample, SixteenBitsTooFarBelowOneForDoubleStillReadBelowOne) {
  // A checkerboard of extremes: one step in 4 of 40 * 127^2 windows, each with d2 = 64 S - A^2 - B^2 of about
  // 9e12, gives 1 - SSIM of about 4 * 63 / 9e12 / 645160 = 4e-17, and `1 - x` would round to 1.
  const Shape shape{"gray16le", "", 512, 512, 1, 0, 0, 16};
  Plane board(512 * 512);
  for (std::size_t i = 0; i < board.size(); ++i) board[i] = (i % 512 + i / 512) % 2 == 0 ? 0 : 65534;
  Clip clip(40, Picture{board});
  const TemporaryDirectory folder;
  write_clip(folder / "a.raw", shape, clip);
  clip[7][0][100 * 512 + 100] += 1;
  write_clip(folder / "b.raw", shape, clip);
  Request request = request_for(folder / "a.raw", folder / "b.raw");
  request.raw[0] = request.raw[1] = *parse_raw_format(shape.raw());
  const Outcome outcome = compare(request, {});
  const Score& ssim = score_of(outcome, "ssim", "all");
  EXPECT_GT(*ssim.one_minus, 0.0);
  EXPECT_LT(*ssim.one_minus, 0x1p-53);
  EXPECT_LT(*ssim.value, 1.0);
  EXPECT_EQ(outcome.squared_error, 1U);
}

TEST(OneSample, RequireIdenticalFailsOnIt) {
  const TemporaryDirectory folder;
  Clip clip = make_clip(small_shape(), 2, 1, 3);
  write_clip(folder / "a.y4m", small_shape(), clip);
  clip[1][2][5] ^= 1;
  write_clip(folder / "b.y4m", small_shape(), clip);
  Request request = request_for(folder / "a.y4m", folder / "b.y4m");
  request.require_identical = true;
  const Outcome outcome = compare(request, {});
  EXPECT_TRUE(has_failure(outcome, FailureKind::threshold));
  EXPECT_EQ(outcome.exit_status(), 1);
}

TEST(OneSample, IdenticalInfinitePsnrPassesAnyThreshold) {
  Request request = request_for(fixture("clips/ten_bit.mkv"), fixture("clips/ten_bit.mkv"));
  request.require_identical = true;
  for (SelectedMetric& metric : request.metrics) metric.threshold = 1e9;
  const Outcome outcome = compare(request, {});
  EXPECT_EQ(outcome.exit_status(), 0) << failure_text(outcome);
}

TEST(OneSample, AThresholdNamesTheValueThatMissedIt) {
  Request request = request_for(fixture("clips/pair81_a.mp4"), fixture("clips/pair81_b.mp4"));
  request.metrics[0].threshold = 32.6;
  const Outcome outcome = compare(request, {});
  EXPECT_EQ(outcome.exit_status(), 1);
  EXPECT_EQ(outcome.verdict(), Verdict::different);
  EXPECT_NE(failure_text(outcome).find("--min-psnr 32.6: PSNR is 32.528"), std::string::npos)
      << failure_text(outcome);
}

}  // namespace
}  // namespace bitproof::metrics::test
