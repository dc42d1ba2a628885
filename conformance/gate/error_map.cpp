#include "conformance/gate/error_map.h"

#include <charconv>

namespace bitproof::conformance {
namespace {

constexpr std::uint32_t kColours = 256;
constexpr std::uint32_t kHeader = 14 + 40 + 4 * kColours;
constexpr std::uint32_t kPixels = kMapSide * kMapSide;

void append(std::vector<std::uint8_t>& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out.push_back(static_cast<std::uint8_t>(value >> (8 * i)));
}

std::uint32_t colour_of(std::uint32_t distance) {
  std::string_view hex;
  for (const MapColour& colour : kMapColours)
    if (colour.from <= distance) hex = colour.hex.substr(1);
  std::uint32_t rgb = 0;
  std::from_chars(hex.data(), hex.data() + hex.size(), rgb, 16);
  return rgb;  // stored as blue, green, red, 0
}

}  // namespace

std::vector<std::uint8_t> to_bitmap(std::span<const std::uint8_t> errors) {
  std::vector<std::uint8_t> out{'B', 'M'};
  append(out, kHeader + kPixels, 4);
  append(out, 0, 4);
  append(out, kHeader, 4);  // where the pixels begin
  append(out, 40, 4);       // size of the rest of the header
  append(out, kMapSide, 4);
  append(out, 0u - static_cast<std::uint32_t>(kMapSide), 4);  // negative: rows from the top down
  append(out, 1, 2);                                          // planes
  append(out, 8, 2);                                          // bits a pixel
  append(out, 0, 4);                                          // no compression
  append(out, kPixels, 4);
  append(out, 0, 4);  // resolution, unknown
  append(out, 0, 4);
  append(out, kColours, 4);
  append(out, 0, 4);
  for (std::uint32_t distance = 0; distance < kColours; ++distance) append(out, colour_of(distance), 4);
  out.insert(out.end(), errors.begin(), errors.end());
  out.resize(kHeader + kPixels);
  return out;
}

}  // namespace bitproof::conformance
