#include "conformance/elementwise/domains.h"

#include <algorithm>
#include <memory>

#include "conformance/elementwise/specials.h"

namespace bitproof::conformance {
namespace {

// Blocks whose elements could share numbers are kept apart by this many positions.
constexpr int kIndexShift = 40;

constexpr std::uint64_t kRandomBlocks = 16, kRandomRows = 256, kRandomWidth = 4096;
constexpr std::uint64_t kPairBlocks = 256, kPairRows = 256, kAllValues = 65536;
constexpr std::uint64_t kHostProductionRows = 32;  // at each end of a shape
// Widths are padded to what every vector divides.
constexpr std::uint64_t kWidestVector = 16;

struct Context {
  ElementwiseOperator op;
  reference::Dtype dtype;
  Location location;
  std::uint64_t seed;

  Case contiguous(InputRule rule, std::uint64_t rows, std::uint64_t width) const {
    return plain_case(rule, op, dtype, rows, width, seed);
  }
};

ElementwiseDomain values(const Context& context) {
  // 64 rows, so that many blocks and lanes of a kernel take part.
  const Case only = context.contiguous(InputRule::all_values, 64, kAllValues / 64);
  return {
      .name = "values", .unit = "values", .total = kAllValues, .blocks = 1, .make_case = [only](std::uint64_t) {
        return only;
      }};
}

ElementwiseDomain pairs(const Context& context) {
  return {.name = "pairs",
          .unit = "pairs",
          .total = kAllValues * kAllValues,
          .blocks = kPairBlocks,
          .make_case = [context](std::uint64_t block) {
            Case c = context.contiguous(InputRule::all_pairs, kPairRows, kAllValues);
            c.source.first_row = block * kPairRows;
            c.first_index = c.source.first_row * kAllValues;
            return c;
          }};
}

ElementwiseDomain pairs_sample(const Context& context) {
  constexpr std::uint64_t kSampleBlocks = 64, kInputsPerBlock = kAllValues / kSampleBlocks;
  return {.name = "pairs_sample",
          .unit = "pairs",
          .total = kSampleBlocks * kAllValues,
          .sampled = true,
          .blocks = kSampleBlocks,
          .make_case = [context](std::uint64_t block) {
            Case c = context.contiguous(InputRule::all_pairs, 1, kAllValues);
            c.source.first_row = block * kInputsPerBlock + mix64(mix64(context.seed) + block) % kInputsPerBlock;
            c.first_index = c.source.first_row * kAllValues;
            return c;
          }};
}

ElementwiseDomain boundary(const Context& context) {
  const std::vector<std::uint16_t> specials = special_values(context.dtype);
  const std::uint64_t width = (specials.size() + kWidestVector - 1) / kWidestVector * kWidestVector;
  Case only = context.contiguous(InputRule::special, context.op.has_bias ? specials.size() : 1, width);
  only.source.special_count = static_cast<std::uint32_t>(specials.size());
  std::ranges::copy(specials, only.source.special.begin());
  return {.name = "boundary",
          .unit = context.op.has_bias ? "pairs" : "values",
          .total = only.elements(),
          .blocks = 1,
          .make_case = [only](std::uint64_t) { return only; }};
}

ElementwiseDomain random(const Context& context) {
  return {.name = "random",
          .unit = "elements",
          .total = kRandomBlocks * kRandomRows * kRandomWidth,
          .sampled = true,
          .blocks = kRandomBlocks,
          .make_case = [context](std::uint64_t block) {
            Case c = context.contiguous(InputRule::random_bits, kRandomRows, kRandomWidth);
            c.source.first_row = block * kRandomRows;
            c.source.bias_stream = block;
            c.first_index = c.source.first_row * kRandomWidth;
            return c;
          }};
}

Case production_case(const Context& context, std::uint64_t shape_index, std::uint64_t first_row,
                     std::uint64_t rows) {
  const std::uint64_t width = kProductionShapes[shape_index].width;
  Case c = context.contiguous(InputRule::activations, rows, width);
  c.source.seed = mix64(context.seed ^ (shape_index + 1));
  c.source.first_row = first_row;
  c.first_index = (shape_index << kIndexShift) + first_row * width;
  return c;
}

ElementwiseDomain production(const Context& context) {
  ElementwiseDomain domain;
  domain.name = "production";
  domain.sampled = true;
  if (context.location == Location::device) {
    domain.unit = "elements";
    domain.blocks = kProductionShapes.size();
    domain.make_case = [context](std::uint64_t block) {
      return production_case(context, block, 0, kProductionShapes[block].rows);
    };
  } else {
    domain.unit = "elements, 64 rows of each shape";
    domain.blocks = 2 * kProductionShapes.size();
    domain.make_case = [context](std::uint64_t block) {
      const std::uint64_t shape = block / 2;
      const std::uint64_t first = block % 2 == 0 ? 0 : kProductionShapes[shape].rows - kHostProductionRows;
      return production_case(context, shape, first, kHostProductionRows);
    };
  }
  for (std::uint64_t block = 0; block < domain.blocks; ++block)
    domain.total += domain.make_case(block).elements();
  return domain;
}

struct LayoutCase {
  std::uint64_t rows, width;
  Layout layout;
};

std::vector<LayoutCase> layout_cases(bool has_bias, Location location) {
  std::vector<LayoutCase> cases;
  // Widths around the vectors of 8 and 16 elements, and around a block's tile of 64 vectors.
  for (const std::uint64_t width : {1,   2,   3,   4,   5,   6,   7,    8,    9,    15,   16,   17,   23,  24,
                                    25,  31,  32,  33,  47,  48,  63,   64,   65,   127,  128,  129,  248, 256,
                                    504, 511, 512, 513, 520, 528, 1016, 1024, 1032, 1040, 4095, 4096, 4097})
    cases.push_back({5, width, {}});
  // Rows around a block's tile, and around the limit of grid_y.
  for (const std::uint64_t rows : {1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 65535, 65536, 65537})
    cases.push_back({rows, 16, {}});
  for (const std::uint64_t offset : {1, 2, 4, 8, 16}) {
    cases.push_back({5, 64, {.input_offset = offset}});
    cases.push_back({5, 64, {.output_offset = offset}});
    if (has_bias) cases.push_back({5, 64, {.bias_offset = offset}});
  }
  cases.push_back({9, 1040, {.aliasing = Aliasing::in_place}});
  cases.push_back({9, 1040, {.input_offset = 16, .output_offset = 16, .aliasing = Aliasing::in_place}});
  cases.push_back({9, 1040, {.aliasing = Aliasing::partial_overlap}});
  if (has_bias) cases.push_back({9, 1040, {.aliasing = Aliasing::over_bias}});
  cases.push_back({9, 64, {.row_gap = 16}});
  if (location == Location::host) {
    cases.push_back({9, 1040, {.launch = Launch::repeated}});
    return cases;
  }

  cases.push_back({512, 12288, {.launch = Launch::delayed_producer}});
  if (has_bias) cases.push_back({512, 12288, {.launch = Launch::late_bias}});
  cases.push_back({512, 12288, {.launch = Launch::graph_replay}});
  cases.push_back({512, 12288, {.launch = Launch::repeated}});
  cases.push_back({9, 12288, {.aliasing = Aliasing::in_place, .launch = Launch::graph_replay}});
  cases.push_back({262145, 16384, {}});  // more than 2^32 elements
  return cases;
}

ElementwiseDomain layout(const Context& context) {
  const auto cases =
      std::make_shared<const std::vector<LayoutCase>>(layout_cases(context.op.has_bias, context.location));
  return {.name = "layout",
          .unit = "cases",
          .total = cases->size(),
          .blocks = cases->size(),
          .make_case = [context, cases](std::uint64_t block) {
            const LayoutCase& chosen = (*cases)[block];
            Case c = context.contiguous(InputRule::random_bits, chosen.rows, chosen.width);
            c.layout = chosen.layout;
            c.source.seed = mix64(context.seed ^ (block + 1));
            c.first_index = block << kIndexShift;
            return c;
          }};
}

}  // namespace

Case plain_case(InputRule rule, const ElementwiseOperator& op, reference::Dtype dtype, std::uint64_t rows,
                std::uint64_t width, std::uint64_t seed) {
  Case c;
  c.rows = rows;
  c.width = width;
  c.source.rule = rule;
  c.source.fp16 = dtype == reference::Dtype::fp16;
  c.source.unary = !op.has_bias;
  c.source.seed = seed;
  c.source.width = width;
  return c;
}

std::optional<ElementwiseDomain> make_domain(std::string_view name, const ElementwiseOperator& op,
                                             reference::Dtype dtype, Location location, std::uint64_t seed) {
  const Context context{op, dtype, location, seed};
  if (name == "values") return values(context);
  if (name == "pairs" && op.has_bias) return pairs(context);
  if (name == "pairs_sample" && op.has_bias) return pairs_sample(context);
  if (name == "boundary") return boundary(context);
  if (name == "random") return random(context);
  if (name == "production") return production(context);
  if (name == "layout") return layout(context);
  return std::nullopt;
}

}  // namespace bitproof::conformance
