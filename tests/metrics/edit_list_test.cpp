#include "metrics/media/edit_list.h"

#include <sstream>

#include <gtest/gtest.h>

namespace bitproof::metrics {
namespace {

std::string big_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = bytes - 1; i >= 0; --i) text += static_cast<char>(value >> (8 * i) & 0xff);
  return text;
}

std::string box(const std::string& type, const std::string& body) {
  return big_endian(body.size() + 8, 4) + type + body;
}

std::string movie(const std::string& edit_list) {
  return box("ftyp", "isom") + box("moov", box("mvhd", "....") + box("trak", box("edts", edit_list)));
}

std::optional<std::vector<Edit>> edits_of(const std::string& bytes) {
  std::istringstream stream(bytes);
  return find_edit_list(stream);
}

TEST(EditList, ThirtyTwoBits) {
  // Version 0, two edits: 1500 units of nothing, then 5063 from media time 2048.
  const std::string list = box("elst", big_endian(0, 4) + big_endian(2, 4) + big_endian(1500, 4) +
                                           big_endian(0xffffffff, 4) + big_endian(0x10000, 4) +
                                           big_endian(5063, 4) + big_endian(2048, 4) + big_endian(0x10000, 4));
  const std::vector<Edit> expected = {{1500, -1}, {5063, 2048}};
  EXPECT_EQ(edits_of(movie(list)), expected);
  EXPECT_EQ(describe(expected), "1500 from media time -1, 5063 from media time 2048");
}

TEST(EditList, SixtyFourBits) {
  const std::string list =
      box("elst", big_endian(1ULL << 24, 4) + big_endian(1, 4) + big_endian(1ULL << 40, 8) + big_endian(7, 8) +
                      big_endian(0x10000, 4));
  EXPECT_EQ(edits_of(movie(list)), (std::vector<Edit>{{1ULL << 40, 7}}));
}

TEST(EditList, FromTimeZeroSaysNothing) {
  const std::string list = box("elst", big_endian(0, 4) + big_endian(1, 4) + big_endian(5063, 4) +
                                           big_endian(0, 4) + big_endian(0x10000, 4));
  EXPECT_EQ(edits_of(movie(list)), std::nullopt);
}

TEST(EditList, DamageIsNoEditList) {
  const std::string list = box("elst", big_endian(0, 4) + big_endian(1000, 4));  // a count beyond the box
  for (const std::string& bytes : {std::string(), std::string("x"), movie(list), movie(box("elst", "")),
                                   big_endian(4, 4) + "moov", big_endian(1, 4) + "moov" + big_endian(~0ULL, 8)})
    EXPECT_EQ(edits_of(bytes), std::nullopt);
}

}  // namespace
}  // namespace bitproof::metrics
