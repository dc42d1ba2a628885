// One element's computation, step by step: what `bitproof trace` prints, and what names the step at which two
// computations part. The result is that of reference/operators.h, bit for bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "reference/half.h"
#include "reference/profile.h"

namespace bitproof::reference {

struct TraceStep {
  std::string name;        // "sum", "rounded sum", "x^3", ...: unique within a trace
  std::uint32_t bits = 0;  // the low width_bits bits
  int width_bits = 0;      // 16 or 32
  double value = 0;        // the bits as a number
  std::string note;        // the operation in words; for a rounding, also the distance to the nearest tie
};

template <Half T>
struct Trace {
  T result;
  std::vector<TraceStep> steps;  // in the order of the computation, inputs first, the result last
};

template <Half T>
Trace<T> trace_gelu_tanh(T x, const Profile& profile);

template <Half T>
Trace<T> trace_bias_gelu_tanh(T x, T bias, const Profile& profile);

// How far `value` is from the nearest point at which rounding to T changes its result, in FP32 ULPs of `value`,
// positive when the tie is further from zero. Infinite when value is not finite, or past the last tie.
template <Half T>
double fp32_ulps_to_nearest_tie(float value);

}  // namespace bitproof::reference
