// From wrong bits to their cause: which mutants give the same wrong bits on the same inputs?
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "conformance/elementwise/case.h"
#include "conformance/elementwise/operators.h"
#include "conformance/mutants/faults.h"
#include "reference/half.h"

namespace bitproof::conformance {

// Some rows of what an implementation wrote for a case, whole, right and wrong elements alike.
struct ObservedRows {
  std::uint64_t first = 0;             // their first row
  std::span<const std::uint16_t> got;  // row after row, each as wide as the case
};

// How many rows from the first wrong one on a diagnosis looks at.
inline constexpr std::uint64_t kObservedRows = 64;

// The faults whose mutants, on the CPU, give exactly these rows. Those of the arithmetic alone are tried first,
// element by element; if none fits and the case is small, the others are run on the whole of it. What a mutant
// keeps between calls cannot be seen in one.
std::vector<Fault> diagnose(const ElementwiseOperator& op, reference::Dtype dtype, const Case& c,
                            const ObservedRows& observed);

// "differs exactly as a kernel that skips the rounding of the sum would"; empty for no fault.
std::string diagnosis_in_words(const std::vector<Fault>& faults);

}  // namespace bitproof::conformance
