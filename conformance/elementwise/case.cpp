#include "conformance/elementwise/case.h"

#include <array>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace bitproof::conformance {
namespace {

constexpr std::array<std::pair<Aliasing, std::string_view>, 3> kAliasingNames{{
    {Aliasing::in_place, "in place"},
    {Aliasing::partial_overlap, "output overlaps input"},
    {Aliasing::over_bias, "output overlaps bias"},
}};

constexpr std::array<std::pair<Launch, std::string_view>, 4> kLaunchNames{{
    {Launch::delayed_producer, "side stream with a delayed producer"},
    {Launch::late_bias, "dependent launch with a late bias"},
    {Launch::graph_replay, "graph replay"},
    {Launch::repeated, "100 repetitions"},
}};

}  // namespace

std::string describe(const Layout& layout) {
  std::string text;
  const auto add = [&text](std::string_view part) {
    if (!text.empty()) text += ", ";
    text += part;
  };
  for (const auto& [aliasing, words] : kAliasingNames)
    if (layout.aliasing == aliasing) add(words);
  for (const auto& [launch, words] : kLaunchNames)
    if (layout.launch == launch) add(words);
  if (layout.input_offset != 0) add(fmt::format("input offset {}", layout.input_offset));
  if (layout.bias_offset != 0) add(fmt::format("bias offset {}", layout.bias_offset));
  if (layout.output_offset != 0) add(fmt::format("output offset {}", layout.output_offset));
  if (layout.row_gap != 0) add(fmt::format("row gap {}", layout.row_gap));
  return text.empty() ? "contiguous" : text;
}

Case with_other_inputs(Case c) {
  c.source.rule = InputRule::activations;
  c.after_other_inputs = false;
  return c;
}

}  // namespace bitproof::conformance
