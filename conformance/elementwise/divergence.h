// Where a wrong computation leaves the right one, when it is a computation we know.
#pragma once

#include <span>
#include <string>

#include "conformance/elementwise/operators.h"
#include "reference/half.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// An element with the wrong bits `got`.
template <reference::Half T>
struct WrongElement {
  T input{}, bias{}, got{};
};

// Compares the trace of the right computation of the first element with those of known deviations of it (the
// sum left unrounded, tanh.approx, another activation, the result truncated) and names the first step at which
// the one that gives its bits differs: "rounded sum: as if the sum were not rounded to the dtype". Of several
// that give its bits those that give the bits of all elements, where there are such. Empty when none gives its
// bits, or when there is no element.
template <reference::Half T>
std::string step_where_computations_part(const ElementwiseOperator& op, const reference::Profile& profile,
                                         std::span<const WrongElement<T>> elements);

}  // namespace bitproof::conformance
