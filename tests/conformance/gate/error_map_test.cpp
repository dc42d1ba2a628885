#include "conformance/gate/error_map.h"

#include <gtest/gtest.h>

namespace bitproof::conformance {
namespace {

TEST(ErrorMap, IsABitmapOfOnePixelPerInput) {
  std::vector<std::uint8_t> errors(65536);
  errors[0x8001] = 2;
  const std::vector<std::uint8_t> bitmap = to_bitmap(errors);
  // 14 + 40 bytes of headers, 256 colours of 4 bytes, 65,536 pixels.
  ASSERT_EQ(bitmap.size(), 14u + 40u + 1024u + 65536u);
  EXPECT_EQ(bitmap[0], 'B');
  EXPECT_EQ(bitmap[1], 'M');
  // Row 0x80, column 0x01, from the top down.
  EXPECT_EQ(bitmap[14 + 40 + 1024 + 0x8001], 2);
  // The colour of 2, #f9b641, as blue, green, red.
  const std::size_t colour = 14 + 40 + 4 * 2;
  EXPECT_EQ(bitmap[colour], 0x41);
  EXPECT_EQ(bitmap[colour + 1], 0xb6);
  EXPECT_EQ(bitmap[colour + 2], 0xf9);
}

TEST(ErrorMap, EveryDistanceHasTheColourOfItsRange) {
  const std::vector<std::uint8_t> bitmap = to_bitmap(std::vector<std::uint8_t>(65536));
  const auto red = [&](std::size_t distance) { return bitmap[14 + 40 + 4 * distance + 2]; };
  EXPECT_EQ(red(2), red(3));
  EXPECT_NE(red(3), red(4));
  EXPECT_EQ(red(128), red(254));
  EXPECT_NE(red(254), red(255));
}

}  // namespace
}  // namespace bitproof::conformance
