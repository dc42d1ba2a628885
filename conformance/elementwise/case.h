// One launch of an elementwise operator: shape, inputs, how the tensors lie in memory, and how it is launched.
#pragma once

#include <cstdint>
#include <string>

#include "conformance/elementwise/input_source.h"

namespace bitproof::conformance {

enum class Aliasing {
  separate,
  in_place,         // output is input
  partial_overlap,  // output starts inside input: to be refused
  over_bias,        // output overlaps bias: to be refused
};

enum class Launch {
  plain,
  delayed_producer,  // a slow kernel ahead in a side stream writes the inputs
  late_bias,         // the kernel ahead releases its dependents early (PDL) and writes the bias late
  graph_replay,      // captured into a graph, replayed on inputs that changed since
  repeated,          // 100 times: every digest must be the same
};

// Distances in elements. Tensors lie at their offset from a 256-byte boundary.
struct Layout {
  std::uint64_t input_offset = 0, bias_offset = 0, output_offset = 0;
  std::uint64_t row_gap = 0;  // elements between rows of input and output: not contiguous when > 0
  Aliasing aliasing = Aliasing::separate;
  Launch launch = Launch::plain;

  bool operator==(const Layout&) const = default;
};

// "contiguous", "in place, bias offset 2", ...
std::string describe(const Layout& layout);

struct Case {
  std::uint64_t rows = 0, width = 0;
  std::uint64_t first_index = 0;  // of the first element, within the domain: for the digest
  Layout layout;
  InputSource source;
  // A launch on other inputs in the same memory goes ahead, so that a kernel that remembers is noticed.
  bool after_other_inputs = false;

  std::uint64_t elements() const { return rows * width; }
};

// The launch that goes ahead of a case with after_other_inputs.
Case with_other_inputs(Case c);

}  // namespace bitproof::conformance
