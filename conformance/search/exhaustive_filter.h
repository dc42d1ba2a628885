// Proves or rejects a candidate formula for a unary operator: it must give the expected bits for all 65,536
// inputs.
//
// Wrong candidates fail on few inputs, and mostly on the same ones. The filter therefore tries inputs in the
// order in which they rejected earlier candidates: a rejection costs a handful of evaluations, a proof all of
// them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "reference/half.h"

namespace bitproof::conformance {

template <reference::Half T>
class ExhaustiveFilter {
 public:
  static constexpr std::size_t kInputs = 65536;

  // `expected[i]` is the right result for the input of bits i.
  explicit ExhaustiveFilter(std::span<const T> expected)
      : expected_(expected.begin(), expected.end()), order_(kInputs) {
    std::iota(order_.begin(), order_.end(), std::uint16_t{0});
  }

  // True if float candidate(float), rounded to T, equals the expected bits for every input.
  template <class Candidate>
  bool proves(const Candidate& candidate) {
    for (std::size_t i = 0; i < kInputs; ++i) {
      if (is_right(candidate, order_[i])) continue;
      // Move to the front: the next candidate meets this input first.
      std::rotate(order_.begin(), order_.begin() + static_cast<std::ptrdiff_t>(i),
                  order_.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      return false;
    }
    return true;
  }

  // All inputs on which the candidate is wrong, ascending.
  template <class Candidate>
  std::vector<std::uint16_t> failures(const Candidate& candidate) const {
    std::vector<std::uint16_t> wrong;
    for (std::size_t bits = 0; bits < kInputs; ++bits)
      if (const auto input = static_cast<std::uint16_t>(bits); !is_right(candidate, input))
        wrong.push_back(input);
    return wrong;
  }

 private:
  template <class Candidate>
  bool is_right(const Candidate& candidate, std::uint16_t input) const {
    return reference::round_to<T>(candidate(reference::widen(T{input}))) == expected_[input];
  }

  std::vector<T> expected_;
  std::vector<std::uint16_t> order_;
};

}  // namespace bitproof::conformance
