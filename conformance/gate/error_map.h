// The errors of all 65,536 inputs as a picture: row high byte, column low byte, colour by ULP distance.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitproof::conformance {

inline constexpr std::size_t kMapSide = 256;

// Colours by distance; a distance belongs to the last entry that does not exceed it.
struct MapColour {
  std::uint8_t from;
  std::string_view label;
  std::string_view hex;  // "#rrggbb"
};
inline constexpr std::array<MapColour, 10> kMapColours{{
    {0, "0", "#e9ecef"},
    {1, "1", "#fde725"},
    {2, "2-3", "#f9b641"},
    {4, "4-7", "#f3894b"},
    {8, "8-15", "#e35f5f"},
    {16, "16-31", "#c93d76"},
    {32, "32-63", "#a52c88"},
    {64, "64-127", "#7a2390"},
    {128, "128-254", "#4b1d87"},
    {255, "255 and more", "#14104f"},
}};

// A Windows bitmap (BITMAPINFOHEADER, 8 bits a pixel), which every browser reads and which needs no
// compression. `errors` has 65,536 entries.
std::vector<std::uint8_t> to_bitmap(std::span<const std::uint8_t> errors);

}  // namespace bitproof::conformance
