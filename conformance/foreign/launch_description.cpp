#include "conformance/foreign/launch_description.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/text_file.h"
#include "kernels/tensor.h"

namespace bitproof::conformance {
namespace {

using Json = nlohmann::json;
using Quantity = Extent::Quantity;

constexpr std::array<std::pair<Quantity, std::string_view>, 3> kQuantities{{
    {Quantity::rows, "rows"},
    {Quantity::width, "width"},
    {Quantity::elements, "elements"},
}};

constexpr std::array<std::pair<LaunchArgument, std::string_view>, 8> kArguments{{
    {LaunchArgument::input, "input"},
    {LaunchArgument::bias, "bias"},
    {LaunchArgument::output, "output"},
    {LaunchArgument::rows, "rows"},
    {LaunchArgument::width, "width"},
    {LaunchArgument::elements, "elements"},
    {LaunchArgument::input_stride, "input_stride"},
    {LaunchArgument::output_stride, "output_stride"},
}};

// CUDA C++ Programming Guide, "Technical Specifications per Compute Capability".
constexpr std::array<std::uint64_t, 3> kLargestGrid{2147483647, 65535, 65535};
constexpr std::uint64_t kLargestBlock = 1024, kLargestShared = 227 * 1024;

std::optional<std::uint64_t> parse_number(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = text.find(',');
    parts.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    text.remove_prefix(comma + 1);
  }
}

struct Problem {
  std::string what, remedy;
};

struct Parser {
  std::string_view prefix;

  Error bad(std::string_view member, std::string_view value, Problem problem) const {
    return {ErrorKind::bad_argument, std::move(problem.what), fmt::format("{}{} {}", prefix, member, value),
            std::move(problem.remedy)};
  }

  Result<std::vector<LaunchArgument>> arguments(const std::optional<std::string>& text, bool has_bias) const {
    if (!text) {
      std::vector<LaunchArgument> usual{LaunchArgument::input};
      if (has_bias) usual.push_back(LaunchArgument::bias);
      usual.insert(usual.end(), {LaunchArgument::output, LaunchArgument::rows, LaunchArgument::width});
      return usual;
    }
    std::vector<LaunchArgument> parsed;
    for (const std::string& part : split(*text)) {
      const auto found =
          std::ranges::find(kArguments, part, &std::pair<LaunchArgument, std::string_view>::second);
      if (found == kArguments.end())
        return bad("arguments", part,
                   {"is nothing that a kernel can be given",
                    "use input, bias, output, rows, width, elements, input_stride, output_stride, separated by "
                    "commas, in the order of the kernel's parameters"});
      if (found->first == LaunchArgument::bias && !has_bias)
        return bad("arguments", part, {"is not there: the operator has no bias", "leave it out"});
      parsed.push_back(found->first);
    }
    return parsed;
  }

  Result<std::array<std::uint32_t, 3>> threads(const std::string& text) const {
    const std::vector<std::string> parts = split(text);
    std::array<std::uint32_t, 3> extents{1, 1, 1};
    std::uint64_t count = parts.size() <= 3 ? 1 : 0;
    for (std::size_t i = 0; i < parts.size() && count != 0; ++i) {
      const std::uint64_t extent = parse_number(parts[i]).value_or(0);
      count *= std::min(extent, kLargestBlock + 1);
      extents[i] = static_cast<std::uint32_t>(std::min(extent, kLargestBlock));
    }
    if (count == 0 || count > kLargestBlock)
      return bad("threads", text,
                 {"is no block of threads",
                  "give one to three positive numbers, at most 1024 threads in all, as in "
                  "256 or 64,2"});
    return extents;
  }

  Result<std::array<Extent, 3>> grid(const std::string& text) const {
    const std::vector<std::string> parts = split(text);
    std::array<Extent, 3> extents{};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::optional<Extent> extent = i < 3 ? parse_extent(parts[i]) : std::nullopt;
      if (!extent)
        return bad(
            "grid", text,
            {"is no rule for a grid",
             "give one to three of: a number, rows, width, elements, or one of these divided by a number "
             "(rounded up), as in elements/1024 or width/256,rows"});
      extents[i] = *extent;
    }
    return extents;
  }
};

// A member that is one number or string, or a list of them, as the command line words it.
std::optional<std::string> worded(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_number_unsigned()) return std::to_string(value.get<std::uint64_t>());
  if (!value.is_array() || value.empty()) return std::nullopt;
  std::string text;
  for (const Json& part : value) {
    if (part.is_array()) return std::nullopt;
    const std::optional<std::string> word = worded(part);
    if (!word) return std::nullopt;
    text += (text.empty() ? "" : ",") + *word;
  }
  return text;
}

}  // namespace

std::uint64_t Extent::of(std::uint64_t rows, std::uint64_t width) const {
  std::uint64_t value = factor;
  if (quantity == Quantity::rows) value = rows;
  if (quantity == Quantity::width) value = width;
  if (quantity == Quantity::elements) value = rows * width;
  return (value + divisor - 1) / divisor;
}

std::optional<Extent> parse_extent(std::string_view text) {
  const std::size_t slash = text.find('/');
  const std::string_view left = text.substr(0, slash);
  Extent extent;
  if (slash != std::string_view::npos) {
    const auto divisor = parse_number(text.substr(slash + 1));
    if (!divisor || *divisor == 0) return std::nullopt;
    extent.divisor = *divisor;
  }
  const auto found = std::ranges::find(kQuantities, left, &std::pair<Quantity, std::string_view>::second);
  if (found != kQuantities.end()) {
    extent.quantity = found->first;
    return extent;
  }
  const auto number = parse_number(left);
  if (!number || *number == 0) return std::nullopt;
  extent.factor = *number;
  return extent;
}

std::string_view name(LaunchArgument argument) {
  return std::ranges::find(kArguments, argument, &std::pair<LaunchArgument, std::string_view>::first)->second;
}

bool LaunchDescription::takes(LaunchArgument argument) const {
  return std::ranges::find(arguments, argument) != arguments.end();
}

Result<LaunchText> with_launch_file(LaunchText text, const std::filesystem::path& file) {
  const Result<std::string> content = read_text_file(file, "name a file that you may read");
  if (!content) return content.error();
  return with_launch_json(std::move(text), *content, file.string());
}

Result<LaunchText> with_launch_json(LaunchText text, std::string_view content, const std::string& source) {
  const auto malformed = [&source](std::string what, std::string remedy) {
    return Error{ErrorKind::malformed, std::move(what), source, std::move(remedy)};
  };
  const std::string schema = "see conformance/launch.schema.json";
  const Json json = Json::parse(content, nullptr, false);
  if (!json.is_object()) return malformed("is no JSON object", schema);
  const std::pair<std::string_view, std::optional<std::string> LaunchText::*> words[] = {
      {"entry", &LaunchText::entry},
      {"arguments", &LaunchText::arguments},
      {"threads", &LaunchText::threads},
      {"grid", &LaunchText::grid}};
  const std::pair<std::string_view, std::optional<std::uint64_t> LaunchText::*> numbers[] = {
      {"shared_bytes", &LaunchText::shared_bytes},
      {"width_multiple", &LaunchText::width_multiple},
      {"alignment_bytes", &LaunchText::alignment_bytes}};
  for (const auto& [key, value] : json.items()) {
    bool known = false;
    for (const auto& [member, field] : words) {
      if (member != key) continue;
      known = true;
      const std::optional<std::string> word = worded(value);
      if (!word) return malformed("/" + key + " is neither a string, a number nor a list of them", schema);
      if (!(text.*field)) text.*field = word;
    }
    for (const auto& [member, field] : numbers) {
      if (member != key) continue;
      known = true;
      if (!value.is_number_unsigned()) return malformed("/" + key + " is no number", schema);
      if (!(text.*field)) text.*field = value.get<std::uint64_t>();
    }
    if (!known) return malformed("/" + key + " is no member of a launch description", schema);
  }
  return text;
}

Result<LaunchDescription> parse_launch(const LaunchText& text, bool has_bias, std::string_view prefix) {
  const Parser parser{prefix};
  LaunchDescription launch;
  launch.entry = text.entry.value_or("");
  const Result<std::vector<LaunchArgument>> arguments = parser.arguments(text.arguments, has_bias);
  if (!arguments) return arguments.error();
  launch.arguments = *arguments;
  const Result<std::array<std::uint32_t, 3>> threads = parser.threads(text.threads.value_or("256"));
  if (!threads) return threads.error();
  launch.threads = *threads;
  const std::uint64_t count = std::uint64_t{launch.threads[0]} * launch.threads[1] * launch.threads[2];
  const Result<std::array<Extent, 3>> grid =
      parser.grid(text.grid.value_or("elements/" + std::to_string(count)));
  if (!grid) return grid.error();
  launch.grid = *grid;

  const std::uint64_t shared = text.shared_bytes.value_or(0);
  if (shared > kLargestShared)
    return parser.bad("shared_bytes", std::to_string(shared),
                      {"is more than any device has", "give at most " + std::to_string(kLargestShared)});
  launch.shared_bytes = static_cast<std::uint32_t>(shared);
  launch.width_multiple = text.width_multiple.value_or(1);
  launch.alignment_bytes = text.alignment_bytes.value_or(2);
  if (launch.width_multiple == 0)
    return parser.bad("width_multiple", "0", {"divides no width", "give a positive number, as in 8"});
  if (launch.alignment_bytes < 2 || launch.alignment_bytes > 256 ||
      (launch.alignment_bytes & (launch.alignment_bytes - 1)) != 0)
    return parser.bad("alignment_bytes", std::to_string(launch.alignment_bytes),
                      {"is no alignment", "give a power of two between 2 and 256"});
  return launch;
}

kernels::Applicability can_launch(const LaunchDescription& launch, const Tensors& tensors) {
  const auto rows = static_cast<std::uint64_t>(tensors.input.shape[0]);
  const auto width = static_cast<std::uint64_t>(tensors.input.shape[1]);
  if (width % launch.width_multiple != 0)
    return {fmt::format("width {} is not a multiple of {}", width, launch.width_multiple)};

  struct Placed {
    std::string_view name;
    const DLTensor* tensor;
    bool has_stride_argument;
  };
  const Placed placed[] = {{"input", &tensors.input, launch.takes(LaunchArgument::input_stride)},
                           {"output", &tensors.output, launch.takes(LaunchArgument::output_stride)},
                           {"bias", tensors.has_bias ? &tensors.bias : nullptr, true}};
  for (const Placed& each : placed) {
    if (each.tensor == nullptr) continue;
    if (!each.has_stride_argument && !kernels::is_contiguous(*each.tensor))
      return {fmt::format("{} is not contiguous, and the kernel is not given its stride", each.name)};
    if (reinterpret_cast<std::uintptr_t>(kernels::data_of(*each.tensor)) % launch.alignment_bytes != 0)
      return {fmt::format("{} is not aligned to {} bytes", each.name, launch.alignment_bytes)};
  }
  for (std::size_t axis = 0; axis < launch.grid.size(); ++axis)
    if (const std::uint64_t blocks = launch.grid[axis].of(rows, width); blocks > kLargestGrid[axis])
      return {fmt::format("its grid would have {} blocks along {}; CUDA allows {}", blocks, "xyz"[axis],
                          kLargestGrid[axis])};
  return {};
}

}  // namespace bitproof::conformance
