#include "kernels/launch_rule.h"

#include <algorithm>
#include <optional>

#include "kernels/architecture.h"

namespace bitproof::kernels {
namespace {

constexpr std::int64_t kMaxGridY = 65535;

std::int64_t divide_rounding_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

LaunchGeometry launch_geometry(const LaunchRule& rule, int vector_bytes, std::int64_t rows,
                               std::int64_t vectors_per_row) {
  const std::int64_t tiles_x = divide_rounding_up(vectors_per_row, rule.threads_x);
  const std::int64_t tiles_y =
      divide_rounding_up(rows, std::int64_t{rule.threads_y} * rule.rows_per_thread(vector_bytes));
  return {
      .grid_x = static_cast<std::uint32_t>(tiles_x),
      .grid_y = static_cast<std::uint32_t>(std::min(tiles_y, kMaxGridY)),
      .block_x = static_cast<std::uint32_t>(rule.threads_x),
      .block_y = static_cast<std::uint32_t>(rule.threads_y),
  };
}

std::string launch_rule_text(std::string_view implementation, std::string_view architecture) {
  const auto linear = [](const std::string& grid) {
    return "block " + std::to_string(kLinearThreads) + ", " + grid;
  };
  if (implementation == "cuda.eager")
    return linear("grid for " + std::to_string(kEagerElementsPerThread) +
                  " elements a thread, one row of blocks a row");
  if (implementation == "cuda.baseline") return linear("grid of the resident blocks");
  if (implementation != "cuda.fused" && implementation != "host.fused") return "";

  const std::optional<ArchitectureTraits> traits = find_architecture(architecture);
  const bool dependent = traits && traits->programmatic_dependent_launch;
  const int vector_bytes = traits ? traits->vector_bytes : 16;
  return "block " + std::to_string(kFusedRule.threads_x) + "x" + std::to_string(kFusedRule.threads_y) +
         " with " + std::to_string(kFusedRule.rows_per_thread(vector_bytes)) +
         " rows a thread, one block a tile, grid_y at most " + std::to_string(kMaxGridY) + ", vector " +
         std::to_string(vector_bytes) + ", dependent launch " + (dependent ? "on" : "off");
}

}  // namespace bitproof::kernels
