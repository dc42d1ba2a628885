// The expected outputs of elementwise cases, computed on the CPU by the reference and nowhere else.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "conformance/elementwise/case.h"
#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/operators.h"
#include "conformance/known_digests.h"
#include "reference/unary_map.h"

namespace bitproof::conformance {

// Expected outputs for one operator, dtype and profile. Immutable.
template <reference::Half T>
class Expected {
 public:
  Expected(const ElementwiseOperator& op, const reference::Profile& profile);

  std::vector<T> bias(const Case& c) const;  // empty for unary operators

  // Row `row` of the case: its inputs into `inputs`, its outputs into `outputs`; both `width` long.
  void row(const Case& c, std::uint64_t row, std::span<const T> bias, std::span<T> inputs,
           std::span<T> outputs) const;

  // Digest of all outputs of the case, which is `block`, on all cores unless KnownDigests has it; which it has
  // afterwards.
  std::uint64_t digest(const Case& c, const BlockOfDomain& block) const;
  std::uint64_t compute_digest(const Case& c, std::uint64_t seed) const;

 private:
  ElementwiseOperator op_;
  reference::UnaryMap<T> map_;
};

// The Expected of an operator and profile, made on first use and kept for the life of the process: building it
// evaluates 65,536 values.
template <reference::Half T>
std::shared_ptr<Expected<T>> expected_for(const ElementwiseOperator& op, const reference::Profile& profile);

}  // namespace bitproof::conformance
