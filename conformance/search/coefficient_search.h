// Searches the coefficients of a formula for a set that is right on all 65,536 inputs.
//
// A formula is right or wrong by luck of its last bits, so its coefficients are tried in steps of their own:
// hill climbing from random starts, on the inputs that have ever been wrong ("hard inputs"), and a full proof
// of what is right on those. Deterministic for a seed.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <set>
#include <vector>

#include "conformance/search/exhaustive_filter.h"

namespace bitproof::conformance {

// One coefficient: the value at `steps` is origin + steps * step, with a start within +-spread steps.
struct Coefficient {
  double origin = 0;
  double step = 0;
  int spread = 0;

  float value(int steps) const { return static_cast<float>(origin + steps * step); }
};

template <reference::Half T, std::size_t kCount>
class CoefficientSearch {
 public:
  using Steps = std::array<int, kCount>;
  using Values = std::array<float, kCount>;

  struct Proof {
    Steps steps;
    Values values;
  };

  CoefficientSearch(std::span<const T> expected, std::array<Coefficient, kCount> coefficients,
                    std::uint64_t seed)
      : filter_(expected),
        expected_(expected.begin(), expected.end()),
        coefficients_(coefficients),
        random_(seed) {}

  // Tries `starts` starting points of `climbs` steps each; `formula(values)` returns a callable float(float).
  template <class Formula>
  std::optional<Proof> run(const Formula& formula, int starts, int climbs) {
    for (int start = 0; start < starts; ++start) {
      Steps steps = random_start();
      std::size_t cost = failures_on_hard_inputs(formula(values(steps)));
      for (int climb = 0; climb < climbs && cost > 0; ++climb) {
        const Steps neighbour = random_neighbour(steps);
        const std::size_t neighbour_cost = failures_on_hard_inputs(formula(values(neighbour)));
        if (neighbour_cost > cost) continue;
        steps = neighbour;
        cost = neighbour_cost;
      }
      ++starts_tried_;
      const std::vector<std::uint16_t> wrong = filter_.failures(formula(values(steps)));
      fewest_failures_ = std::min(fewest_failures_, wrong.size());
      if (wrong.empty()) return Proof{steps, values(steps)};
      // A hopeless start teaches nothing about the neighbourhood of the goal.
      if (wrong.size() <= kMostInstructiveFailures) hard_inputs_.insert(wrong.begin(), wrong.end());
    }
    return std::nullopt;
  }

  std::size_t fewest_failures() const { return fewest_failures_; }
  std::size_t hard_inputs() const { return hard_inputs_.size(); }
  int starts_tried() const { return starts_tried_; }

 private:
  static constexpr std::size_t kMostInstructiveFailures = 64;

  Values values(const Steps& steps) const {
    Values result;
    for (std::size_t i = 0; i < kCount; ++i) result[i] = coefficients_[i].value(steps[i]);
    return result;
  }

  int uniform(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

  Steps random_start() {
    Steps steps;
    for (std::size_t i = 0; i < kCount; ++i)
      steps[i] = uniform(-coefficients_[i].spread, coefficients_[i].spread);
    return steps;
  }

  Steps random_neighbour(Steps steps) {
    for (int moves = uniform(1, 2); moves > 0; --moves) {
      const auto i = static_cast<std::size_t>(uniform(0, static_cast<int>(kCount) - 1));
      const int reach = std::max(1, coefficients_[i].spread / 4);
      steps[i] += uniform(-reach, reach);
    }
    return steps;
  }

  template <class Candidate>
  std::size_t failures_on_hard_inputs(const Candidate& candidate) const {
    std::size_t count = 0;
    for (const std::uint16_t input : hard_inputs_)
      if (reference::round_to<T>(candidate(reference::widen(T{input}))) != expected_[input]) ++count;
    return count;
  }

  ExhaustiveFilter<T> filter_;
  std::vector<T> expected_;
  std::array<Coefficient, kCount> coefficients_;
  std::mt19937_64 random_;
  std::set<std::uint16_t> hard_inputs_;
  std::size_t fewest_failures_ = 65536;
  int starts_tried_ = 0;
};

}  // namespace bitproof::conformance
