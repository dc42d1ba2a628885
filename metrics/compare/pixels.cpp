#include "metrics/compare/pixels.h"

#include <cstring>

namespace bitproof::metrics {

std::optional<PixelPosition> first_difference(const Frame& a, const Frame& b, std::uint64_t index_a,
                                              std::uint64_t index_b) {
  for (std::size_t plane = 0; plane < a.format->planes.size(); ++plane) {
    const PlaneFormat& shape = a.format->planes[plane];
    const auto found = with_views(a, b, plane, [&](auto left, auto right) -> std::optional<PixelPosition> {
      for (int y = 0; y < shape.height; ++y)
        for (int x = 0; x < shape.width; ++x)
          if (std::memcmp(left.row(y) + x, right.row(y) + x, sizeof(*left.data)) != 0)
            return PixelPosition{index_a,
                                 index_b,
                                 shape.name,
                                 x,
                                 y,
                                 static_cast<double>(left.row(y)[x]),
                                 static_cast<double>(right.row(y)[x])};
      return std::nullopt;
    });
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace bitproof::metrics
