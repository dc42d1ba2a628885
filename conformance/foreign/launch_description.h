// How a kernel out of a .cu, .ptx or .cubin file is launched: its entry, the order of its arguments, threads
// and grid, and which tensors it serves. From the command line or from a JSON file
// (conformance/launch.schema.json) beside it.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/elementwise/placement.h"
#include "conformance/report/result.h"
#include "kernels/elementwise_guard.h"

namespace bitproof::conformance {

// A number that depends on the tensors: a quantity divided by a constant and rounded up, or a constant.
struct Extent {
  enum class Quantity { one, rows, width, elements };
  Quantity quantity = Quantity::one;
  std::uint64_t factor = 1;
  std::uint64_t divisor = 1;

  std::uint64_t of(std::uint64_t rows, std::uint64_t width) const;
  bool operator==(const Extent&) const = default;
};

// "256", "rows", "elements/1024"
std::optional<Extent> parse_extent(std::string_view text);

enum class LaunchArgument {
  input,
  bias,
  output,  // addresses
  rows,
  width,
  elements,
  input_stride,
  output_stride,  // integers of 32 or 64 bits, as the kernel declares them; strides are from row to row
};

std::string_view name(LaunchArgument argument);

// As it was worded; what is not there has its default.
struct LaunchText {
  std::optional<std::string> entry{}, arguments{}, threads{}, grid{};
  std::optional<std::uint64_t> shared_bytes{}, width_multiple{}, alignment_bytes{};
};

struct LaunchDescription {
  std::string entry;  // empty: the only kernel of the file
  std::vector<LaunchArgument> arguments;
  std::array<std::uint32_t, 3> threads{256, 1, 1};  // of a block
  std::array<Extent, 3> grid{};                     // blocks
  std::uint32_t shared_bytes = 0;
  std::uint64_t width_multiple = 1;   // widths that it serves
  std::uint64_t alignment_bytes = 2;  // that it needs of every tensor's first element

  bool takes(LaunchArgument argument) const;
};

// `text` with what a file beside the kernel says: what is in both is taken from `text`. Errors name the file
// and the member.
Result<LaunchText> with_launch_file(LaunchText text, const std::filesystem::path& file);
// The same of the file's content; `source` is its name.
Result<LaunchText> with_launch_json(LaunchText text, std::string_view content, const std::string& source);

// Without `arguments`: input, bias where the operator has one, output, rows, width. Without `grid`: one thread
// an element. Errors name the member with `prefix` before it.
Result<LaunchDescription> parse_launch(const LaunchText& text, bool has_bias, std::string_view prefix);

// Whether the kernel is to be launched on these tensors, by its own description and CUDA's limits of a grid.
kernels::Applicability can_launch(const LaunchDescription& launch, const Tensors& tensors);

}  // namespace bitproof::conformance
