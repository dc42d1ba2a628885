#pragma once

#include <cstdint>

namespace bitproof::conformance {

// What outputs and their guard bands hold before a launch: a NaN in both formats that no conversion produces, so that
// an element which still holds it was not written.
inline constexpr std::uint16_t kPoison = 0xFFA5;

}  // namespace bitproof::conformance
