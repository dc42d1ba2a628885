// One element's computation, step by step: what `bitproof trace` prints, and what names the step at which two
// computations part. The result is that of reference/operators.h, bit for bit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "reference/half.h"
#include "reference/operators.h"
#include "reference/profile.h"

namespace bitproof::reference {

struct TraceStep {
  std::string name;        // "sum", "rounded sum", "x^3", ...: unique within a trace
  std::uint32_t bits = 0;  // the low width_bits bits
  int width_bits = 0;      // 16 or 32
  double value = 0;        // the bits as a number
  std::string note;        // the operation in words
  // Of an FP32 value that the next step rounds to 16 bits: how far the nearest tie of that rounding is, in FP32
  // ULPs of this value; see fp32_ulps_to_nearest_tie.
  std::optional<double> ulps_to_tie = std::nullopt;
};

template <Half T>
struct Trace {
  T result;
  std::vector<TraceStep> steps;  // in the order of the computation, inputs first, the result last
};

template <Half T>
Trace<T> trace_gelu_tanh(T x, const Profile& profile);

// Of any of the unary maps.
template <Half T>
Trace<T> trace_activation(Activation activation, T x, const Profile& profile);

template <Half T>
Trace<T> trace_bias_gelu_tanh(T x, T bias, const Profile& profile);

// The distance from `value` to the nearest tie of rounding to T, in FP32 ULPs of `value`: positive when the tie
// is farther from zero than the value, negative when it is nearer, 0 on a tie. The last tie, half an ULP above
// the largest finite T, is where overflow to infinity begins. Infinite for values that are not finite.
template <Half T>
double fp32_ulps_to_nearest_tie(float value);

}  // namespace bitproof::reference
