// The domains of linear + GELU: countable sets of launches, a block being one launch.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/elementwise/domains.h"
#include "conformance/linear/operands.h"
#include "conformance/report/record.h"
#include "reference/half.h"
#include "reference/linear/gemm.h"

namespace bitproof::conformance {

// One launch: a layer, and the rows of its output that are tested.
struct LinearCase {
  std::string description;                           // "order-sensitive sums", for a counterexample
  reference::GemmShape shape;                        // as the implementation is given it
  std::vector<BlockRange> rows;                      // tested; ascending, disjoint
  int repetitions = 1;                               // launches; each must give the same bits
  bool must_be_refused = false;                      // K or N is no multiple of 8: neither predicted nor served
  std::function<HostLayer<reference::Bf16>()> bf16;  // makes the operands
  std::function<HostLayer<reference::Fp16>()> fp16;

  std::uint64_t tested_rows() const;
  template <reference::Half T>
  HostLayer<T> layer() const {
    if constexpr (T::kDtype == reference::Dtype::bf16)
      return bf16();
    else
      return fp16();
  }
};

struct LinearDomain {
  std::string name;
  std::string unit;  // what total counts: "values", "elements", "cases"
  std::uint64_t total = 0;
  bool sampled = false;
  std::vector<LinearCase> cases;  // case i is block i
};

// values      all 65,536 numbers as accumulators, each once: a one-hot dot product gives it exactly
// boundary    special accumulators, scaled over the FP32 range, crossed with special biases; cases that went
//             wrong in the field; order-sensitive, overflowing, subnormal and non-finite sums
// random      aligned shapes with operands of every kind; 200 of them on a GPU
// production  the real layers, on a GPU whole in columns and depth and with at least 4,096 rows; on the CPU a
//             corner of each
// layout      rows, columns and depths around tiles and steps, a depth of 0, one row, one column, the same rows
//             in batches of many sizes, repetition, and what must be refused
//
// Nothing for another name.
std::optional<LinearDomain> make_linear_domain(std::string_view name, reference::Dtype dtype, Location location,
                                               std::uint64_t seed);

inline constexpr std::array<std::string_view, 5> kLinearDomains{"values", "boundary", "random", "layout",
                                                                "production"};

// Number, for digests, of the first tested element of a block: blocks are kept apart, whatever their sizes.
constexpr std::uint64_t first_index_of_block(std::uint64_t block) { return block << 40; }

struct LinearProductionShape {
  std::string_view model;
  reference::GemmShape shape;
  std::uint64_t tested_rows;  // on a GPU
};

// The up-projections of FLUX at 512 and 4,096 tokens and of Wan2.2 at 832x480, 81 frames.
inline constexpr std::array kLinearProductionShapes{
    LinearProductionShape{"FLUX, 512 tokens", {.rows = 512, .columns = 12288, .depth = 3072}, 512},
    LinearProductionShape{"FLUX, 4096 tokens", {.rows = 4096, .columns = 12288, .depth = 3072}, 4096},
    LinearProductionShape{"Wan2.2, 832x480, 81 frames", {.rows = 32760, .columns = 13824, .depth = 5120}, 4096},
};

// `count` of `rows` rows in pieces of 32, spread evenly, the first and the last among them. `count` is a
// multiple of 32, or all rows.
std::vector<BlockRange> spread_rows(std::uint64_t rows, std::uint64_t count);

}  // namespace bitproof::conformance
