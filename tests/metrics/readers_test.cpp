// The readers of our own formats: raw descriptions, numbers in file names, heads of image files.
#include <cstring>

#include <gtest/gtest.h>

#include "metrics/media/animation.h"
#include "metrics/media/numbered_images.h"
#include "metrics/media/raw_format.h"

namespace bitproof::metrics {
namespace {

TEST(RawFormat, SizeAndPixelFormat) {
  const Result<RawFormat> format = parse_raw_format("832x480:yuv420p10le");
  ASSERT_TRUE(format);
  EXPECT_EQ(*format, (RawFormat{832, 480, "yuv420p10le"}));
}

TEST(RawFormat, AnythingElseIsAUsageError) {
  for (const char* text : {"", "832x480", "832:yuv420p", "x480:gray", "0x480:gray", "-1x480:gray",
                           "832x480:nosuch", "99999x480:gray", "832x480x2:gray", "832 x480:gray", "832x480:"}) {
    const Result<RawFormat> format = parse_raw_format(text);
    ASSERT_FALSE(format) << text;
    EXPECT_EQ(format.failure().kind, FailureKind::usage) << text;
  }
}

TEST(RawFormat, EverySideReadsBackAsWritten) {
  for (int side = 1; side <= 32768; ++side) {
    const int other = 32769 - side;
    const auto format = parse_raw_format(std::to_string(side) + "x" + std::to_string(other) + ":gray");
    ASSERT_TRUE(format) << side;
    ASSERT_EQ(*format, (RawFormat{side, other, "gray"}));
  }
}

TEST(ImageNumber, IsTheLastRunOfDigitsBeforeTheExtension) {
  EXPECT_EQ(image_number("frame_0017.png"), 17U);
  EXPECT_EQ(image_number("run2_frame3.png"), 3U);
  EXPECT_EQ(image_number("0.png"), 0U);
  EXPECT_EQ(image_number("12_final.tif"), 12U);
  EXPECT_EQ(image_number("a.jp2"), std::nullopt);
  EXPECT_EQ(image_number("99999999999999999999999.png"), std::nullopt);  // beyond 64 bits
}

ImageKind kind_of(std::string_view bytes) {
  return image_kind(std::as_bytes(std::span(bytes.data(), bytes.size())));
}

TEST(ImageKinds, AnAnimatedPngHasAcTlBeforeItsFirstData) {
  using namespace std::literals;
  const std::string signature = "\x89PNG\r\n\x1a\n";
  const std::string header = "\0\0\0\x01IHDRxCCCC"s, control = "\0\0\0\x01"s + "acTLxCCCC",
                    data = "\0\0\0\x01IDATxCCCC"s;
  EXPECT_EQ(kind_of(signature + header + control + data), ImageKind::animated_png);
  EXPECT_EQ(kind_of(signature + header + data + control), ImageKind::still);
  EXPECT_EQ(kind_of(signature), ImageKind::still);
}

TEST(ImageKinds, AnAnimatedWebpHasItsBitSet) {
  using namespace std::literals;
  const std::string head = "RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0"s;
  EXPECT_EQ(kind_of(head + "\x02"), ImageKind::animated_webp);
  EXPECT_EQ(kind_of(head + "\x10"), ImageKind::still);  // alpha only
  EXPECT_EQ(kind_of(head), ImageKind::still);
}

}  // namespace
}  // namespace bitproof::metrics
