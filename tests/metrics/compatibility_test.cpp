#include "metrics/compare/compatibility.h"

#include <gtest/gtest.h>

namespace bitproof::metrics {
namespace {

FrameFormat yuv(int chroma_width, int chroma_height, int depth) {
  FrameFormat format;
  format.pixel_format = "yuv";
  format.model = ColorModel::yuv;
  format.sample = depth > 8 ? SampleType::u16 : SampleType::u8;
  format.width = 16;
  format.height = 8;
  format.planes = {{'y', 16, 8, depth},
                   {'u', chroma_width, chroma_height, depth},
                   {'v', chroma_width, chroma_height, depth}};
  return format;
}

TEST(Compatibility, EqualFormatsAgree) {
  const Compatibility result = check_formats(yuv(8, 4, 8), yuv(8, 4, 8));
  EXPECT_TRUE(result.mismatches.empty());
  EXPECT_TRUE(result.consequences.empty());
}

TEST(Compatibility, OtherChromaSamplingLeavesLuma) {
  const Compatibility result = check_formats(yuv(8, 4, 8), yuv(16, 8, 8));
  EXPECT_EQ(result.mismatches.size(), 1U);
  ASSERT_TRUE(result.common);
  ASSERT_EQ(result.common->planes.size(), 1U);
  EXPECT_EQ(result.common->planes[0].name, 'y');
  EXPECT_EQ(result.consequences.size(), 4U);  // u and v of each
}

TEST(Compatibility, RgbAndYuvHaveNothingInCommon) {
  FrameFormat rgb = yuv(16, 8, 8);
  rgb.model = ColorModel::rgb;
  rgb.planes[0].name = 'r';
  rgb.planes[1].name = 'g';
  rgb.planes[2].name = 'b';
  const Compatibility result = check_formats(yuv(16, 8, 8), rgb);
  EXPECT_FALSE(result.mismatches.empty());
  EXPECT_FALSE(result.common);
}

TEST(Compatibility, RangeAndMatrixDisagreeOnlyWhenBothAreSpecified) {
  FrameFormat a = yuv(8, 4, 8), b = a;
  a.range = ColorRange::full;
  a.matrix = "bt709";
  EXPECT_TRUE(check_formats(a, b).mismatches.empty());
  b.range = ColorRange::limited;
  b.matrix = "bt2020nc";
  EXPECT_EQ(check_formats(a, b).mismatches.size(), 2U);
}

TEST(Compatibility, WhatOneSideLeavesUnspecifiedIsTakenFromTheOther) {
  FrameFormat a = yuv(8, 4, 8), b = a;
  a.matrix = "bt709";
  b.range = ColorRange::full;
  const FrameFormat common = *check_formats(a, b).common;
  EXPECT_EQ(with_tags(common, a, b), with_tags(common, b, a));
  EXPECT_EQ(with_tags(common, a, b).matrix, "bt709");
  EXPECT_EQ(with_tags(common, a, b).range, ColorRange::full);
  b.matrix = "bt2020nc";  // what both specify stays theirs
  EXPECT_EQ(with_tags(common, b, a).matrix, "bt2020nc");
}

TEST(Compatibility, AlignShiftsLeftToTheGreaterDepth) {
  const auto common = check_formats(yuv(8, 4, 8), yuv(8, 4, 10)).common;
  ASSERT_TRUE(common);
  const std::vector<std::uint8_t> samples(16 * 8, 201);
  Frame frame;
  frame.format = std::make_shared<FrameFormat>(yuv(8, 4, 8));
  const auto* data = reinterpret_cast<const std::byte*>(samples.data());
  frame.planes = {{data, 16}, {data, 8}, {data, 8}};
  const Frame aligned = align(frame, common);
  EXPECT_EQ(aligned.view<std::uint16_t>(0).row(7)[15], 201 * 4);
  EXPECT_EQ(aligned.view<std::uint16_t>(2).row(3)[7], 201 * 4);
}

}  // namespace
}  // namespace bitproof::metrics
