// What the launchers of mutants on the CPU and on a GPU have in common: the faults of host code.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <dlpack/dlpack.h>

#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/placement.h"
#include "conformance/mutants/body.h"
#include "conformance/mutants/faults.h"
#include "kernels/launch_rule.h"

namespace bitproof::conformance::mutants {

// The tensors of a call as the fault sees them.
struct SeenTensors {
  DLTensor input, bias, output;
  bool has_bias;
  const DLTensor* bias_or_null() const { return has_bias ? &bias : nullptr; }
};
SeenTensors seen_by(Fault fault, const Tensors& tensors);

// The grid of the production kernel; depends_on_grid caps it.
kernels::LaunchGeometry geometry_for(Fault fault, const kernels::RowwiseArguments& arguments);

// What a call is recognised by, for the mutants that return what they computed before.
struct CallKey {
  const void *input = nullptr, *output = nullptr;
  std::int64_t rows = 0, width = 0;
  kernels::HalfType type = kernels::HalfType::bf16;
  bool operator==(const CallKey&) const = default;
};
CallKey key_of(Fault fault, const kernels::RowwiseArguments& arguments, kernels::HalfType type);
inline bool caches(Fault fault) { return fault == Fault::cached_by_pointer || fault == Fault::cached_by_shape; }

// Which of its calls one that differs on repetition spoils.
inline constexpr std::uint64_t kSpoiledCall = 50;

}  // namespace bitproof::conformance::mutants
