// The values at which half-precision kernels go wrong: what domain `boundary` is made of.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/half.h"

namespace bitproof::conformance {

// Zeros, subnormal edges, one, both sides of every tie and overflow named in the contract's issues, the
// quantised tail, infinities, NaNs of several payloads; every number with both signs. At most kMaxSpecials,
// ascending bits.
std::vector<std::uint16_t> special_values(reference::Dtype dtype);

}  // namespace bitproof::conformance
