#include "conformance/linear/domains.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "conformance/digest.h"
#include "conformance/elementwise/specials.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::GemmShape;
using reference::Half;

constexpr std::size_t kValues = 65536;
constexpr std::size_t kMultiple = 8;  // of columns and depth, for cuBLASLt's modelled kernels
constexpr std::uint64_t kPieceRows = 32;

constexpr std::size_t padded(std::size_t extent) {
  return std::max(kMultiple, (extent + kMultiple - 1) / kMultiple * kMultiple);
}

// A case whose operands are made by make.template operator()<T>(), all rows tested.
template <class Make>
LinearCase case_of(std::string description, const GemmShape& shape, Make make) {
  LinearCase c;
  c.description = std::move(description);
  c.shape = shape;
  c.rows = {{0, shape.rows}};
  c.bf16 = [make] { return make.template operator()<Bf16>(); };
  c.fp16 = [make] { return make.template operator()<Fp16>(); };
  return c;
}

LinearCase random_case(std::string description, const GemmShape& shape, OperandKind kind, std::uint64_t seed) {
  return case_of(std::move(description), shape, [=]<Half T>() { return random_layer<T>(shape, kind, seed); });
}

// --- values --------------------------------------------------------------------------------------------------

// Column j has the weights (number j, 0, ...), and x is (1, 0, ...): output j is f(number j).
LinearCase all_values() {
  const GemmShape shape{.rows = 1, .columns = kValues, .depth = kMultiple};
  return case_of("one-hot dot products", shape, [shape]<Half T>() {
    HostLayer<T> layer = zero_layer<T>(shape);
    layer.x[0] = reference::round_to<T>(1.0f);
    for (std::size_t j = 0; j < kValues; ++j) layer.weight[j * shape.depth] = T{static_cast<std::uint16_t>(j)};
    return layer;
  });
}

// --- boundary ------------------------------------------------------------------------------------------------

// Row r scales by a power of two, columns are the pairs of special accumulators and special biases: FP32
// accumulators far outside the dtype's range, both signs, non-finite ones and all their sums with the biases.
LinearCase special_pairs(reference::Dtype dtype) {
  const std::vector<std::uint16_t> specials = special_values(dtype);
  const GemmShape shape{.rows = 8, .columns = padded(specials.size() * specials.size()), .depth = kMultiple};
  return case_of("special accumulators and biases", shape, [shape, specials]<Half T>() {
    constexpr bool kBf16 = T::kDtype == reference::Dtype::bf16;
    constexpr int kExponents[] = {0,
                                  0,
                                  kBf16 ? 8 : 4,
                                  kBf16 ? 64 : 8,
                                  kBf16 ? 127 : 15,
                                  kBf16 ? -8 : -4,
                                  kBf16 ? -64 : -14,
                                  kBf16 ? -126 : -24};
    HostLayer<T> layer = zero_layer<T>(shape);
    for (std::size_t row = 0; row < shape.rows; ++row)
      layer.x[row * shape.depth] = reference::round_to<T>(std::ldexp(row == 1 ? -1.0f : 1.0f, kExponents[row]));
    for (std::size_t pair = 0; pair < specials.size() * specials.size(); ++pair) {
      layer.weight[pair * shape.depth] = T{specials[pair / specials.size()]};
      layer.bias[pair] = T{specials[pair % specials.size()]};
    }
    return layer;
  });
}

// GELU of each column's bias: x = 0, bias 1 to 8 on a square.
LinearCase bias_one_to_eight() {
  const GemmShape shape{.rows = 8, .columns = 8, .depth = 8};
  return case_of("x = 0, bias 1 to 8", shape, [shape]<Half T>() {
    HostLayer<T> layer = zero_layer<T>(shape);
    for (std::size_t column = 0; column < 8; ++column)
      layer.bias[column] = reference::round_to<T>(static_cast<float>(column + 1));
    return layer;
  });
}

// One output in a corner, the rest padded with zeros.
LinearCase one_output(std::string description, std::vector<float> x, std::vector<float> weight, float bias) {
  const GemmShape shape{.rows = 1, .columns = kMultiple, .depth = padded(x.size())};
  return case_of(std::move(description), shape, [=]<Half T>() {
    HostLayer<T> layer = zero_layer<T>(shape);
    std::ranges::transform(x, layer.x.begin(), [](float value) { return reference::round_to<T>(value); });
    std::ranges::transform(weight, layer.weight.begin(),
                           [](float value) { return reference::round_to<T>(value); });
    layer.bias[0] = reference::round_to<T>(bias);
    return layer;
  });
}

// Row r holds 2^15, -2^15 and many small numbers, the large ones moved r places on: what is cut off depends on
// what a step of 16 has to align to.
LinearCase order_sensitive() {
  const GemmShape shape{.rows = 48, .columns = 8, .depth = 48};
  return case_of("order-sensitive sums", shape, [shape]<Half T>() {
    HostLayer<T> layer = zero_layer<T>(shape);
    for (std::size_t row = 0; row < shape.rows; ++row) {
      T* const x = layer.x.data() + row * shape.depth;
      for (std::size_t k = 0; k < shape.depth; ++k)
        x[k] = reference::round_to<T>(std::ldexp(1.0f + static_cast<float>(k % 7) / 8.0f, -12));
      x[row] = reference::round_to<T>(0x1p15f);
      x[(row + 17) % shape.depth] = reference::round_to<T>(-0x1p15f);
    }
    for (std::size_t column = 0; column < shape.columns; ++column)
      for (std::size_t k = 0; k < shape.depth; ++k)
        layer.weight[column * shape.depth + k] =
            reference::round_to<T>(std::ldexp(k % 3 == 1 ? -1.0f : 1.0f, static_cast<int>(column) - 4));
    return layer;
  });
}

std::vector<LinearCase> boundary_cases(reference::Dtype dtype, std::uint64_t seed) {
  std::vector<LinearCase> cases{
      special_pairs(dtype),
      bias_one_to_eight(),
      one_output("[1, 2^-4] squared + 2^-8", {1, 0x1p-4f}, {1, 0x1p-4f}, 0x1p-8f),
      one_output("256 * 256 - 65504", {256}, {256}, -65504),
      order_sensitive(),
  };
  for (const OperandKind kind : kAllOperandKinds)
    cases.push_back(random_case(std::string(name(kind)), {.rows = 19, .columns = 72, .depth = 328}, kind,
                                mix64(seed ^ cases.size())));
  return cases;
}

// --- random --------------------------------------------------------------------------------------------------

// Operands of the extreme kinds, which the reference predicts lane by lane, get fewer rows.
GemmShape random_shape(std::uint64_t random, OperandKind kind, Location location) {
  const bool extreme =
      kind == OperandKind::large || kind == OperandKind::subnormal || kind == OperandKind::non_finite;
  const bool host = location == Location::host;
  return {.rows = 1 + random % (extreme || host ? 64 : 1024),
          .columns = kMultiple * (1 + (random >> 16) % (host ? 16 : 128)),
          .depth = kMultiple * (1 + (random >> 32) % (host ? 48 : 256))};
}

std::vector<LinearCase> random_cases(Location location, std::uint64_t seed) {
  const std::size_t count = location == Location::host ? 24 : 200;
  std::vector<LinearCase> cases;
  for (std::size_t i = 0; i < count; ++i) {
    const OperandKind kind = kAllOperandKinds[i % kAllOperandKinds.size()];
    const std::uint64_t number = mix64(mix64(seed) + i);
    cases.push_back(
        random_case(std::string(name(kind)), random_shape(mix64(number), kind, location), kind, number));
  }
  return cases;
}

// --- production ----------------------------------------------------------------------------------------------

std::vector<LinearCase> production_cases(Location location, std::uint64_t seed) {
  constexpr std::size_t kHostRows = 8, kHostColumns = 32;
  std::vector<LinearCase> cases;
  for (const LinearProductionShape& production : kLinearProductionShapes) {
    GemmShape shape = production.shape;
    if (location == Location::host) {
      shape.rows = kHostRows;
      shape.columns = kHostColumns;
    }
    LinearCase c = random_case(std::string(production.model), shape, OperandKind::activations,
                               mix64(seed ^ (cases.size() + 1)));
    if (location == Location::device) c.rows = spread_rows(shape.rows, production.tested_rows);
    cases.push_back(std::move(c));
  }
  return cases;
}

// --- layout --------------------------------------------------------------------------------------------------

// The first `rows` rows of a batch.
LinearCase part_of_batch(const GemmShape& whole, std::size_t rows, std::uint64_t seed) {
  GemmShape shape = whole;
  shape.rows = rows;
  return case_of(fmt::format("{} rows of a batch of {}", rows, whole.rows), shape, [=]<Half T>() {
    HostLayer<T> layer = random_layer<T>(whole, OperandKind::activations, seed);
    layer.shape = shape;
    layer.x.resize(shape.rows * shape.depth);
    return layer;
  });
}

// A layer padded with zeros from a width or a depth that is none: `columns` and `depth` are what it has.
LinearCase padded_case(std::string description, std::size_t rows, std::size_t columns, std::size_t depth,
                       std::uint64_t seed) {
  const GemmShape shape{.rows = rows, .columns = padded(columns), .depth = padded(depth)};
  return case_of(std::move(description), shape, [=]<Half T>() {
    HostLayer<T> layer = random_layer<T>(shape, OperandKind::wide, seed);
    for (std::size_t column = 0; column < shape.columns; ++column)
      for (std::size_t k = 0; k < shape.depth; ++k)
        if (column >= columns || k >= depth) layer.weight[column * shape.depth + k] = T{};
    for (std::size_t row = 0; row < shape.rows; ++row)
      for (std::size_t k = depth; k < shape.depth; ++k) layer.x[row * shape.depth + k] = T{};
    std::fill(layer.bias.begin() + static_cast<std::ptrdiff_t>(columns), layer.bias.end(), T{});
    return layer;
  });
}

LinearCase refused_case(const GemmShape& shape, std::uint64_t seed) {
  LinearCase c =
      random_case("rows that do not all start at multiples of 16 bytes", shape, OperandKind::activations, seed);
  c.must_be_refused = true;
  return c;
}

std::vector<LinearCase> layout_cases(Location location, std::uint64_t seed) {
  const bool host = location == Location::host;
  std::vector<LinearCase> cases;
  const auto next_seed = [&] { return mix64(seed ^ (cases.size() + 1)); };

  const GemmShape batch{.rows = 1024, .columns = host ? 8u : 3072u, .depth = host ? 24u : 3072u};
  for (const std::size_t rows : {1, 2, 17, 33, 128, 257, 1024})
    cases.push_back(part_of_batch(batch, rows, seed));

  cases.push_back(padded_case("depth 0, padded to 8", 17, 24, 0, next_seed()));
  cases.push_back(padded_case("one column, padded to 8", host ? 33 : 512, 1, host ? 40 : 3072, next_seed()));
  cases.push_back(padded_case("one row, one column, depth 1, padded to 8", 1, 1, 1, next_seed()));
  cases.push_back(padded_case("depth 13 and 11 columns, padded to 16", 5, 11, 13, next_seed()));

  // Around the tensor core's step of 16 and cuBLASLt's slices of 64; around the tiles of an output.
  for (const std::size_t depth : {8, 16, 24, 56, 64, 72, 120, 128, 136})
    cases.push_back(random_case(fmt::format("depth {}", depth), {.rows = 9, .columns = 40, .depth = depth},
                                OperandKind::wide, next_seed()));
  for (const std::size_t columns : {8, 24, 56, 64, 72, 120, 136, 248, 264})
    cases.push_back(random_case(fmt::format("{} columns", columns),
                                {.rows = 9, .columns = columns, .depth = 40}, OperandKind::wide, next_seed()));
  for (const std::size_t rows : {3, 63, 64, 65, 127, 129, 255, 256})
    cases.push_back(random_case(fmt::format("{} rows", rows), {.rows = rows, .columns = 24, .depth = 40},
                                OperandKind::wide, next_seed()));

  cases.push_back(random_case("launched 20 times", {.rows = 96, .columns = host ? 16u : 1024u, .depth = 40},
                              OperandKind::cancelling, next_seed()));
  cases.back().repetitions = 20;

  for (const GemmShape& shape : {GemmShape{16, 16, 12}, GemmShape{16, 12, 16}, GemmShape{16, 1, 16},
                                 GemmShape{16, 16, 1}, GemmShape{1, 20, 20}})
    cases.push_back(refused_case(shape, next_seed()));
  return cases;
}

std::uint64_t elements_of(const std::vector<LinearCase>& cases) {
  std::uint64_t sum = 0;
  for (const LinearCase& c : cases) sum += c.tested_rows() * c.shape.columns;
  return sum;
}

LinearDomain domain_of_elements(std::string_view name, std::string_view unit, std::vector<LinearCase> cases,
                                bool sampled) {
  const std::uint64_t total = elements_of(cases);
  return {std::string(name), std::string(unit), total, sampled, std::move(cases)};
}

}  // namespace

std::uint64_t LinearCase::tested_rows() const {
  std::uint64_t count = 0;
  for (const BlockRange& range : rows) count += range.end - range.begin;
  return count;
}

std::vector<BlockRange> spread_rows(std::uint64_t rows, std::uint64_t count) {
  if (count >= rows) return {{0, rows}};
  const std::uint64_t pieces = count / kPieceRows;
  std::vector<BlockRange> ranges;
  for (std::uint64_t piece = 0; piece < pieces; ++piece) {
    const std::uint64_t begin = piece * (rows - kPieceRows) / std::max<std::uint64_t>(pieces - 1, 1);
    ranges.push_back({begin, begin + kPieceRows});
  }
  return ranges;
}

std::optional<LinearDomain> make_linear_domain(std::string_view name, reference::Dtype dtype, Location location,
                                               std::uint64_t seed) {
  const bool host = location == Location::host;
  if (name == "values") return domain_of_elements(name, "values", {all_values()}, false);
  if (name == "boundary") return domain_of_elements(name, "elements", boundary_cases(dtype, seed), false);
  if (name == "random") return domain_of_elements(name, "elements", random_cases(location, seed), true);
  if (name == "production")
    return domain_of_elements(
        name,
        host ? "elements, 8 rows and 32 columns of each shape" : "elements, of the largest shape 4096 rows",
        production_cases(location, seed), true);
  if (name == "layout") {
    LinearDomain domain{std::string(name), "cases", 0, false, layout_cases(location, seed)};
    domain.total = domain.cases.size();
    return domain;
  }
  return std::nullopt;
}

}  // namespace bitproof::conformance
