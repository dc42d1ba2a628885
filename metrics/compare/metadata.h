// Differences in what the containers say. They are reported and change nothing.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "metrics/compare/outcome.h"

namespace bitproof::metrics {

std::vector<MetadataDifference> metadata_differences(std::span<const Property> a, std::span<const Property> b);

// Range and matrix that one side specifies and the other does not.
std::vector<MetadataDifference> tag_differences(const FrameFormat& a, const FrameFormat& b);

// Finds the first pair whose time since the first pair differs by more than containers' rounding (1 ms in
// Matroska).
class TimeStampComparison {
 public:
  void add(const Frame& a, const Frame& b, std::uint64_t index);
  const std::optional<MetadataDifference>& difference() const { return difference_; }

 private:
  std::optional<double> first_a_, first_b_;
  std::optional<MetadataDifference> difference_;
};

}  // namespace bitproof::metrics
