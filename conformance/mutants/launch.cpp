#include "conformance/mutants/launch.h"

#include <algorithm>
#include <vector>

#include "conformance/elementwise/operators.h"
#include "conformance/mutants/mutant.h"

namespace bitproof::conformance {
namespace mutants {
namespace {

DLTensor seen_by(Fault fault, DLTensor tensor) {
  if (fault == Fault::strides_ignored) tensor.strides = nullptr;  // which means: dense
  if (fault == Fault::byte_offset_ignored) tensor.byte_offset = 0;
  return tensor;
}

}  // namespace

SeenTensors seen_by(Fault fault, const Tensors& tensors) {
  return {seen_by(fault, tensors.input), seen_by(fault, tensors.bias), seen_by(fault, tensors.output),
          tensors.has_bias};
}

kernels::LaunchGeometry geometry_for(Fault fault, const kernels::RowwiseArguments& arguments) {
  kernels::LaunchGeometry geometry =
      kernels::launch_geometry(kernels::kFusedRule, kElements * 2, arguments.rows, arguments.width / kElements);
  if (fault == Fault::depends_on_grid) geometry.grid_x = std::min(geometry.grid_x, 1u);
  return geometry;
}

CallKey key_of(Fault fault, const kernels::RowwiseArguments& arguments, kernels::HalfType type) {
  CallKey key{arguments.input, arguments.output, arguments.rows, arguments.width, type};
  if (fault == Fault::cached_by_shape) key.input = key.output = nullptr;
  return key;
}

}  // namespace mutants

std::uint64_t first_inputs(const std::uint16_t* elements) {
  std::uint64_t all = 0;
  for (int i = 0; i < 4; ++i) all = all << 16 | elements[i];
  return all;
}

std::vector<std::uint64_t> known_inputs(Location location) {
  constexpr std::uint64_t kDefaultSeed = 1;
  std::vector<std::uint64_t> known;
  for (const ElementwiseOperator& op : kElementwiseOperators)
    for (const reference::Dtype dtype : {reference::Dtype::bf16, reference::Dtype::fp16})
      for (const std::string_view name : {"values", "boundary", "random", "layout", "production"}) {
        const auto domain = make_domain(name, op, dtype, location, kDefaultSeed);
        for (std::uint64_t block = 0; domain && block < domain->blocks; ++block) {
          const Case c = domain->make_case(block);
          std::uint16_t first[4] = {};
          for (std::uint64_t i = 0; i < std::min<std::uint64_t>(4, c.elements()); ++i)
            first[i] = c.source.input(i / c.width, i % c.width);
          known.push_back(first_inputs(first));
        }
      }
  std::ranges::sort(known);
  known.erase(std::ranges::unique(known).begin(), known.end());
  return known;
}

}  // namespace bitproof::conformance
