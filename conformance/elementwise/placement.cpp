#include "conformance/elementwise/placement.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace bitproof::conformance {
namespace {

constexpr std::uint64_t kAlignmentElements = 128;  // 256 bytes
// How far an overlapping output is moved: keeps every alignment, so that overlap is the only reason to refuse.
constexpr std::uint64_t kOverlapShift = 64;

std::uint64_t aligned(std::uint64_t element) {
  return (element + kAlignmentElements - 1) / kAlignmentElements * kAlignmentElements;
}

}  // namespace

Placement place(const Case& c, bool has_bias) {
  const Layout& layout = c.layout;
  const std::uint64_t stride = c.width + layout.row_gap;
  Placement placement;
  placement.input = {aligned(kGuardElements) + layout.input_offset, c.rows, c.width, stride};
  std::uint64_t end = placement.input.end();
  placement.bias.begin = end;
  if (has_bias) {
    placement.bias = {aligned(end + kGuardElements) + layout.bias_offset, 1, c.width, c.width};
    end = placement.bias.end();
  }

  placement.output = {aligned(end + kGuardElements) + layout.output_offset, c.rows, c.width, stride};
  switch (layout.aliasing) {
    case Aliasing::separate:
      break;
    case Aliasing::in_place:
      placement.output = placement.input;
      placement.output_is_input = true;
      break;
    case Aliasing::partial_overlap:
      placement.output.begin = placement.input.begin + kOverlapShift;
      break;
    case Aliasing::over_bias:
      placement.output.begin = placement.bias.begin + kOverlapShift;
      break;
  }
  placement.arena_elements = aligned(std::max(end, placement.output.end()) + kGuardElements);
  return placement;
}

std::string in_words(const Placement& placement, std::uint64_t element) {
  struct Named {
    std::string_view name;
    const Region& region;
  };
  std::vector<Named> tensors{{"the output", placement.output}};
  if (!placement.output_is_input) tensors.push_back({"the input", placement.input});
  if (placement.bias.rows != 0) tensors.push_back({"the bias", placement.bias});
  std::uint64_t row = 0, column = 0;
  for (const auto& [name, region] : tensors)
    if (region.holds(element, row, column)) return fmt::format("element [{}, {}] of {}", row, column, name);
  for (const auto& [name, region] : tensors)
    if (element >= region.begin && element < region.end())
      return fmt::format("element {} of the gap after row {} of {}",
                         (element - region.begin) % region.stride - region.width,
                         (element - region.begin) / region.stride, name);
  // In a guard band: by the nearest tensor.
  std::string words;
  std::uint64_t nearest = placement.arena_elements;
  for (const auto& [name, region] : tensors) {
    const bool past = element >= region.end();
    const std::uint64_t distance = past ? element - region.end() : region.begin - element;
    if (distance >= nearest) continue;
    nearest = distance;
    words = fmt::format("element {} {} of {}", distance, past ? "past the end" : "before the start", name);
  }
  return words;
}

Tensors::Tensors(const Placement& placement, bool with_bias, std::uint16_t* arena, reference::Dtype dtype,
                 DLDevice device)
    : has_bias(with_bias) {
  const auto code = static_cast<std::uint8_t>(dtype == reference::Dtype::bf16 ? kDLBfloat : kDLFloat);
  const auto tensor = [&](const Region& region, Axes& axes, int rank) {
    const auto width = static_cast<std::int64_t>(region.width), rows = static_cast<std::int64_t>(region.rows);
    if (rank == 2) {
      axes.shape = {rows, width};
      axes.strides = {static_cast<std::int64_t>(region.stride), 1};
    } else {
      axes.shape = {width, 0};
      axes.strides = {1, 0};
    }
    // As DLPack asks for: `data` at a 256-byte boundary, the rest of the way in byte_offset.
    const std::uint64_t past_boundary = region.begin % kAlignmentElements;
    return DLTensor{.data = arena + (region.begin - past_boundary),
                    .device = device,
                    .ndim = rank,
                    .dtype = {code, 16, 1},
                    .shape = axes.shape.data(),
                    .strides = axes.strides.data(),
                    .byte_offset = past_boundary * sizeof(std::uint16_t)};
  };
  input = tensor(placement.input, input_axes_, 2);
  output = tensor(placement.output, output_axes_, 2);
  if (with_bias) bias = tensor(placement.bias, bias_axes_, 1);
}

}  // namespace bitproof::conformance
