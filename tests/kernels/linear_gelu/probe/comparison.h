// Both paths' outputs against their predictions, and against each other.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "reference/half.h"
#include "reference/linear/epilogue_difference.h"

namespace bitproof::probe {

struct Example {
  std::size_t index = 0;  // of the element
  float accumulator = 0;  // bias included, predicted
  std::uint16_t expected = 0, got = 0;
};

// Elements of one implementation that differ from their prediction.
struct Mismatches {
  std::uint64_t count = 0;
  std::optional<Example> first;
};

struct Comparison {
  std::uint64_t tested = 0;
  Mismatches eager, fused;
  // Differences of the two paths by cause, indexed by EpilogueDifference.
  std::array<std::uint64_t, 5> causes{};
  std::array<std::optional<Example>, 5> cause_examples{};  // expected: eager's bits, got: the epilogue's

  bool passed() const { return tested > 0 && eager.count == 0 && fused.count == 0; }
  Comparison& operator+=(const Comparison& other);
};

// Element i of every span belongs together; `first_index` is the number of element 0.
template <reference::Half T>
Comparison compare(std::span<const float> biased_accumulators, std::span<const T> eager,
                   std::span<const T> fused, std::size_t first_index);

// "4718592 tested, eager 0, fused 0 differ", and the first wrong elements.
std::string describe(const Comparison& comparison);

// The causes with counts and one example each.
std::string describe_causes(const Comparison& comparison);

}  // namespace bitproof::probe
