// The operators: what the right bits are, one rounding after the other.
//
// Every function needs an FP32 environment without FTZ and DAZ that rounds to nearest
// (reference/environment.h). The scalar functions do not look at it themselves; reference/bulk.h and the
// conformance runner do.
#pragma once

#include "reference/gelu.h"
#include "reference/gelu_erf.h"
#include "reference/half.h"
#include "reference/profile.h"
#include "reference/silu.h"

namespace bitproof::reference {

// The rounding that ends an eager kernel: to nearest even, with the profile's NaN.
template <Half T>
T round_result(float value, const Profile& profile) {
  return is_nan_bits(float_bits(value)) ? T{profile.nan_bits} : round_to<T>(value);
}

// The sum of input and bias as GELU sees it.
template <Half T>
float bias_sum(T x, T bias, const Profile& profile) {
  const float sum = widen(x) + widen(bias);
  return profile.sum_rounding == SumRounding::none ? sum : widen(round_result<T>(sum, profile));
}

// Eager gelu(x, approximate="tanh") on a 16-bit tensor: FP32 inside, one rounding at the end.
template <Half T>
T gelu_tanh(T x, const Profile& profile) {
  return round_result<T>(gelu_tanh_fp32(widen(x), profile), profile);
}

// Eager gelu(x) on a 16-bit tensor: the erf form in FP32, one rounding at the end.
template <Half T>
T gelu_erf(T x, const Profile& profile) {
  return round_result<T>(gelu_erf_fp32(widen(x), profile), profile);
}

// Eager silu(x) on a 16-bit tensor: FP32 inside, one rounding at the end.
template <Half T>
T silu(T x, const Profile& profile) {
  return round_result<T>(silu_fp32(widen(x)), profile);
}

// The unary maps that elementwise operators are made of.
enum class Activation { gelu_tanh, gelu_erf, silu };

template <Half T>
T apply(Activation activation, T x, const Profile& profile) {
  switch (activation) {
    case Activation::gelu_tanh:
      return gelu_tanh(x, profile);
    case Activation::gelu_erf:
      return gelu_erf(x, profile);
    case Activation::silu:
      return silu(x, profile);
  }
  return x;
}

// Eager gelu(x + bias, approximate="tanh"): two kernels, so the sum is rounded to T before GELU sees it.
template <Half T>
T bias_gelu_tanh(T x, T bias, const Profile& profile) {
  return round_result<T>(gelu_tanh_fp32(bias_sum(x, bias, profile), profile), profile);
}

}  // namespace bitproof::reference
