// The domains of elementwise operators: countable sets of inputs in numbered blocks, a block being one launch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/elementwise/case.h"
#include "conformance/elementwise/operators.h"
#include "reference/half.h"

namespace bitproof::conformance {

// Whether the implementation runs on the CPU or on a GPU: production shapes are whole and launches are varied
// on a GPU only.
enum class Location { host, device };

struct ElementwiseDomain {
  std::string name;
  std::string unit;  // what total counts
  std::uint64_t total = 0;
  bool sampled = false;  // a sample of its input space
  std::uint64_t blocks = 0;
  std::function<Case(std::uint64_t block)> make_case;
  std::string element{};  // of a domain that is one small case: its text (one_element.h)
};

// values    all 65,536 inputs; of a biased operator with bias -0
// pairs     all 2^32 of (input, bias), 256 blocks of 256 rows; biased operators only
// pairs_sample  of each 1,024 consecutive inputs one, drawn by the seed, with every bias: 2^22 pairs
// boundary  the special values, of a biased operator crossed pairwise
// random    2^24 elements, every pattern as likely
// production  the real shapes with activations; on the CPU the first and last 32 rows of each
// layout    widths, rows, offsets, aliasing, gaps, repetition; on a GPU also streams, graphs, more than 2^32
// elements
//
// Nothing for a domain that the operator does not have.
std::optional<ElementwiseDomain> make_domain(std::string_view name, const ElementwiseOperator& op,
                                             reference::Dtype dtype, Location location, std::uint64_t seed);

// One contiguous launch of `rows` x `width` elements made by `rule`.
Case plain_case(InputRule rule, const ElementwiseOperator& op, reference::Dtype dtype, std::uint64_t rows,
                std::uint64_t width, std::uint64_t seed);

struct ProductionShape {
  std::string_view model;
  std::uint64_t rows, width;
};

// FLUX up-projection at 512 and 4,096 tokens; Wan2.2 at 832x480 and at 1280x720, 81 frames.
inline constexpr std::array kProductionShapes{
    ProductionShape{"FLUX, 512 tokens", 512, 12288},
    ProductionShape{"FLUX, 4096 tokens", 4096, 12288},
    ProductionShape{"Wan2.2, 832x480, 81 frames", 32760, 13824},
    ProductionShape{"Wan2.2, 1280x720, 81 frames", 75600, 13824},
};

}  // namespace bitproof::conformance
