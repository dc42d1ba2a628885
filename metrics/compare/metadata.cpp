#include "metrics/compare/metadata.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace bitproof::metrics {
namespace {

constexpr double kRounding = 1.05e-3;  // seconds

std::string value_of(std::span<const Property> properties, const std::string& name) {
  const auto found = std::find_if(properties.begin(), properties.end(),
                                  [&](const Property& property) { return property.name == name; });
  return found == properties.end() ? "none" : found->value;
}

}  // namespace

std::vector<MetadataDifference> metadata_differences(std::span<const Property> a, std::span<const Property> b) {
  std::vector<MetadataDifference> differences;
  const auto compare = [&](const std::string& name) {
    std::string left = value_of(a, name), right = value_of(b, name);
    if (left != right) differences.push_back({name, std::move(left), std::move(right)});
  };
  for (const Property& property : a) compare(property.name);
  for (const Property& property : b)
    if (std::none_of(a.begin(), a.end(), [&](const Property& other) { return other.name == property.name; }))
      compare(property.name);
  return differences;
}

std::vector<MetadataDifference> tag_differences(const FrameFormat& a, const FrameFormat& b) {
  std::vector<MetadataDifference> differences;
  if (a.range != b.range && (a.range == ColorRange::unspecified || b.range == ColorRange::unspecified))
    differences.push_back({"range", std::string(name(a.range)), std::string(name(b.range))});
  if (a.matrix != b.matrix && (a.matrix == "unspecified" || b.matrix == "unspecified"))
    differences.push_back({"matrix", a.matrix, b.matrix});
  return differences;
}

void TimeStampComparison::add(const Frame& a, const Frame& b, std::uint64_t index) {
  if (difference_ || !a.seconds || !b.seconds) return;
  if (!first_a_) {
    first_a_ = a.seconds;
    first_b_ = b.seconds;
  }
  const double time_a = *a.seconds - *first_a_, time_b = *b.seconds - *first_b_;
  if (std::abs(time_a - time_b) <= kRounding) return;
  difference_ = MetadataDifference{fmt::format("time stamps, from frame {} on", index),
                                   fmt::format("{:.6f} s", time_a), fmt::format("{:.6f} s", time_b)};
}

}  // namespace bitproof::metrics
