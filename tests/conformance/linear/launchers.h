// Implementations of linear + GELU for the tests: right ones, from the plain form of the reference's rule, and
// ones that are wrong in one known way.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "conformance/linear/check.h"
#include "reference/linear/gelu_epilogue.h"
#include "reference/operators.h"

namespace bitproof::conformance::testing {

template <reference::Half T>
using OutputOf = std::function<T(float accumulator)>;

// Applies a function to every biased accumulator, summed in `splits`, and lets `damage` change what was
// launched.
template <reference::Half T>
class FakeLauncher final : public LinearLauncher<T> {
 public:
  using Damage = std::function<void(Launched<T>&, int launch)>;
  explicit FakeLauncher(
      OutputOf<T> output, Damage damage = [](Launched<T>&, int) {}, int splits = 1)
      : output_(std::move(output)), damage_(std::move(damage)), splits_(splits) {}

  Launched<T> launch(const HostLayer<T>& layer, std::span<const BlockRange> rows) override {
    Launched<T> launched;
    if (const auto refusal = reference::refuse_prediction(layer.shape, 1)) {
      launched.refusal = refusal->reason;
    } else {
      const std::vector<float> sums = reference::biased_accumulators(layer.operands(splits_));
      for (const BlockRange& range : rows)
        for (std::size_t i = range.begin * layer.shape.columns; i < range.end * layer.shape.columns; ++i)
          launched.outputs.push_back(output_(sums[i]));
      launched.algorithm = LibraryAlgorithm{"id 1, splits 1", 1, 4096, {}};
    }
    damage_(launched, ++launches_);
    return launched;
  }

 private:
  OutputOf<T> output_;
  Damage damage_;
  int splits_;
  int launches_ = 0;
};

template <reference::Half T>
T eager_output(float sum) {
  return reference::gelu_tanh(reference::round_to<T>(sum), reference::kPytorch211Cuda);
}

}  // namespace bitproof::conformance::testing
