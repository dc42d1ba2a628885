// What the launchers of mutants on the CPU and on a GPU have in common: the faults of host code.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <dlpack/dlpack.h>

#include "conformance/elementwise/implementation.h"
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

// The implementation of `fault` by a Mutant, which the CPU and a GPU have one of each: made of (fault, whether
// it flips a bit), with can_use(tensors) and run(tensors, stream).
template <class Mutant>
ElementwiseImplementation implementation_of(Location location, std::string_view name, Fault fault,
                                            bool flips_a_bit) {
  const auto mutant = std::make_shared<Mutant>(fault, flips_a_bit);
  return {.name = std::string(name),
          .location = location,
          .vector_elements = kElements,
          .can_use = [mutant](const Tensors& tensors) { return mutant->can_use(tensors); },
          .run = [mutant](const Tensors& tensors, CUstream_st* stream) { mutant->run(tensors, stream); }};
}

// Which of its calls one that differs on repetition spoils.
inline constexpr std::uint64_t kSpoiledCall = 50;

}  // namespace bitproof::conformance::mutants
