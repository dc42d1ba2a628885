// Where a wrong computation leaves the right one, when it is a computation we know.
#pragma once

#include <string>

#include "conformance/elementwise/operators.h"
#include "reference/half.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// Compares the trace of the right computation with those of known deviations of it (the sum left unrounded,
// tanh.approx, another activation, the result truncated) and names the first step at which the one that gives
// `got` differs: "rounded sum: the sum was not rounded to the dtype". Empty when none of them gives `got`.
template <reference::Half T>
std::string step_where_computations_part(const ElementwiseOperator& op, const reference::Profile& profile,
                                         T input, T bias, T got);

}  // namespace bitproof::conformance
