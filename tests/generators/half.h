// RapidCheck generators of half-precision bits, shapes and layouts, weighted to where kernels go wrong. A
// failing property prints its seed; RC_PARAMS="seed=..." replays it (RapidCheck, "Configuration").
#pragma once

#include <cstdint>

#include <rapidcheck.h>

#include "conformance/elementwise/case.h"
#include "reference/half.h"

namespace bitproof::generators {

// Any of the 65,536 bit patterns: a third of them specials of the contract (zeros, subnormal edges, ties, the
// quantised tail, overflow edges, infinities, NaNs), a third beside one of those, a third uniform. Shrinks
// towards +0 by way of numbers with fewer significant bits.
rc::Gen<std::uint16_t> half_bits(reference::Dtype dtype);

// A bias for `x` that puts the sum on a knife edge: exactly between two numbers of the format, or one step
// beside. Shrinks like half_bits.
rc::Gen<std::uint16_t> bias_on_a_tie(reference::Dtype dtype, std::uint16_t x);

struct Shape {
  std::uint64_t rows = 1, width = 16;
};

// Small shapes whose width `vector_elements` divides, around the tiles of the launch rule; shrinks to one row
// and one vector.
rc::Gen<Shape> shape(std::uint64_t vector_elements);

// Offsets, in place or not; only such as every implementation must serve. Shrinks to contiguous.
rc::Gen<conformance::Layout> served_layout();

}  // namespace bitproof::generators
