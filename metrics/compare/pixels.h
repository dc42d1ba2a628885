// Where two frames first differ.
#pragma once

#include <optional>

#include "metrics/compare/outcome.h"

namespace bitproof::metrics {

// In the order of planes, rows, columns; nothing when every sample has the same bits.
std::optional<PixelPosition> first_difference(const Frame& a, const Frame& b, std::uint64_t index_a,
                                              std::uint64_t index_b);

}  // namespace bitproof::metrics
