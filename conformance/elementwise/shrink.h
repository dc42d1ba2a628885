// From a counterexample in a large tensor to the smallest that still fails: one row, one vector, one element,
// simple values.
#pragma once

#include <functional>
#include <optional>

#include "conformance/elementwise/one_element.h"
#include "conformance/report/record.h"

namespace bitproof::conformance {

// Runs one launch and returns its first counterexample, if the implementation is wrong there.
using TryCase = std::function<std::optional<Counterexample>(const Case&)>;

// Candidates are tried in the order of their simplicity, and a candidate that fails becomes what is shrunk
// further; so the result always fails, and is seen to fail twice. Nothing when no case around one element
// fails: the fault needs the large tensor, or what came before it. What is no element's fault, but the code's,
// is shrunk from zeros.
std::optional<SmallestCase> shrink(const ElementwiseOperator& op, reference::Dtype dtype,
                                   const Counterexample& first, const Record& identity,
                                   const TryCase& try_case);

}  // namespace bitproof::conformance
