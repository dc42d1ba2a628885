// What a mutant computes for one element: the production arithmetic, gelu_tanh(round(input + bias)), with a
// fault. For a GPU thread and for the CPU, like kernels/gelu_tanh_body.h.
//
// A fault is a value, not a template argument: one function serves all, so that the family costs one
// compilation.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "conformance/mutants/faults.h"
#include "kernels/gelu_tanh_fast.h"
#include "kernels/half_pair.h"
#include "kernels/primitives.h"

#if !defined(__CUDACC__)
#include "reference/erff.h"
#include "reference/tanhf.h"
#endif

namespace bitproof::conformance::mutants {

using kernels::HalfType;

BITPROOF_KERNEL std::uint32_t bits_of_float(float x) {
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

BITPROOF_KERNEL float float_of_bits(std::uint32_t bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

// CUDA's tanhf, or the model of it.
BITPROOF_KERNEL float eager_tanh(float x) {
#if defined(__CUDACC__)
  return tanhf(x);
#else
  return reference::cuda_tanhf(x);
#endif
}

// CUDA's erff, or the model of it.
BITPROOF_KERNEL float eager_erf(float x) {
#if defined(__CUDACC__)
  return erff(x);
#else
  return reference::cuda_erff(x);
#endif
}

// tanh.approx.f32, MUFU.TANH.
BITPROOF_KERNEL float approximate_tanh(float x) {
#if defined(__CUDACC__)
  float y;
  asm("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return reference::sfu::tanh_approx(x);
#endif
}

template <HalfType kType>
struct Format {
  static constexpr int kFractionBits = kType == HalfType::bf16 ? 7 : 10;
  static constexpr std::uint16_t kInfinity =
      static_cast<std::uint16_t>(0x7FFFu >> kFractionBits << kFractionBits);
  static constexpr std::uint16_t kNan = 0x7FFF;  // of the profile
  static constexpr std::uint16_t kQuietBit = 1u
                                             << (kFractionBits - 1);  // kInfinity | kQuietBit is the CPU's NaN
  static constexpr std::uint16_t kSmallestNormal = 1u << kFractionBits;

  static BITPROOF_KERNEL float widen(std::uint16_t bits) { return kernels::HalfPair<kType>::widen(bits).low; }
  static BITPROOF_KERNEL std::uint16_t round(float x) {
    return static_cast<std::uint16_t>(kernels::HalfPair<kType>::round({x, 0.0f}) & 0xFFFFu);
  }
  static BITPROOF_KERNEL bool is_nan(std::uint16_t bits) { return (bits & 0x7FFFu) > kInfinity; }
  static BITPROOF_KERNEL bool is_subnormal(std::uint16_t bits) {
    const unsigned magnitude = bits & 0x7FFFu;
    return magnitude != 0 && magnitude < kSmallestNormal;
  }
};

enum class Rounding { toward_zero, half_up, half_away, stochastic };

// A number of the format with bits below its last one: `kept` is the magnitude's bits, `rest` what was cut off,
// of a last place of 2^width.
struct Cut {
  std::uint32_t kept, rest;
  int width;
};

template <HalfType kType>
BITPROOF_KERNEL Cut cut(std::uint32_t magnitude) {
  if constexpr (kType == HalfType::bf16) {
    return {magnitude >> 16, magnitude & 0xFFFFu, 16};
  } else {
    if (magnitude >= 0x38800000u) return {(magnitude >> 13) - (112u << 10), magnitude & 0x1FFFu, 13};
    // Below 2^-14 the last place is 2^-24. What is smaller than 2^-8 of it is only known not to be zero.
    const int exponent = static_cast<int>(magnitude >> 23);
    const std::uint32_t significand = exponent == 0 ? 0 : (magnitude & 0x7FFFFFu) | 0x800000u;
    const int width = 126 - exponent;
    if (width > 31) return {0, significand != 0 ? 1u : 0u, 24};
    return {significand >> width, significand & ((1u << width) - 1), width};
  }
}

template <HalfType kType>
BITPROOF_KERNEL std::uint16_t round_by(float x, Rounding rule, std::uint32_t noise) {
  const std::uint32_t bits = bits_of_float(x), magnitude = bits & 0x7FFFFFFFu;
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000u);
  if (magnitude > 0x7F800000u) return Format<kType>::kNan;
  const bool is_too_large = kType == HalfType::fp16 && magnitude >= 0x47800000u;  // 65536
  if (is_too_large && magnitude < 0x7F800000u && rule == Rounding::toward_zero)
    return static_cast<std::uint16_t>(sign | (Format<kType>::kInfinity - 1));
  if (is_too_large || magnitude == 0x7F800000u)
    return static_cast<std::uint16_t>(sign | Format<kType>::kInfinity);
  const Cut parts = cut<kType>(magnitude);
  const std::uint32_t half = 1u << (parts.width - 1), last = half << 1;
  bool up = false;
  switch (rule) {
    case Rounding::toward_zero:
      break;
    case Rounding::half_up:
      up = parts.rest > half || (parts.rest == half && sign == 0);
      break;
    case Rounding::half_away:
      up = parts.rest >= half;
      break;
    case Rounding::stochastic:
      up = (noise & (last - 1)) + parts.rest >= last;
      break;
  }
  return static_cast<std::uint16_t>(sign | (parts.kept + (up ? 1 : 0)));  // a carry gives infinity, rightly
}

// Rounded to nearest at two bits more than the format has, then to the format.
template <HalfType kType>
BITPROOF_KERNEL std::uint16_t round_twice(float x) {
  constexpr int kDropped = 23 - Format<kType>::kFractionBits - 2;
  std::uint32_t bits = bits_of_float(x);
  if ((bits & 0x7FFFFFFFu) < 0x7F800000u) {
    bits += (1u << (kDropped - 1)) - 1 + (bits >> kDropped & 1u);
    bits &= ~((1u << kDropped) - 1);
  }
  return Format<kType>::round(float_of_bits(bits));
}

// 0.5 x (1 + tanh u) in FP32, as eager associates it, with what a fault changes.
BITPROOF_KERNEL float gelu_by_formula(Fault fault, float x) {
  using kernels::add, kernels::fused_multiply_add, kernels::multiply;
  float beta = float_of_bits(0x3F4C422Au);   // sqrt(2/pi)
  float kappa = float_of_bits(0x3D372713u);  // 0.044715
  if (fault == Fault::erf_form)
    return multiply(multiply(0.5f, x), add(1.0f, eager_erf(multiply(x, 0.70710678f))));
  if (fault == Fault::beta_one_ulp_off) beta = float_of_bits(0x3F4C422Bu);
  if (fault == Fault::beta_of_another_library) beta = 0.797885f;
  if (fault == Fault::kappa_one_ulp_off) kappa = float_of_bits(0x3D372714u);
  float u = multiply(beta, fused_multiply_add(kappa, multiply(multiply(x, x), x), x));
  // cuBLASLt's: u = x * fma(beta*kappa * x, x, beta).
  if (fault == Fault::kappa_folded)
    u = multiply(x, fused_multiply_add(multiply(float_of_bits(0x3D12227Eu), x), x, beta));
  if (fault == Fault::sigmoid_form) return x / add(1.0f, expf(multiply(-2.0f, u)));
  float t = eager_tanh(u);
  if (fault == Fault::tanh_approx) t = approximate_tanh(u);
  if (fault == Fault::exp_quotient) {
    const float e = expf(multiply(2.0f, u));
    t = add(e, -1.0f) / add(e, 1.0f);
  }
  // Eigen's rational tanh clamps its argument at 7.9; a shorter table at less.
  if (fault == Fault::tanh_saturates_early && fabsf(u) >= 4.0f) t = copysignf(1.0f, u);
  const float half_x = multiply(0.5f, x);
  if (fault == Fault::fma_tail) return fused_multiply_add(half_x, t, half_x);
  return multiply(half_x, add(1.0f, t));
}

// Every operation in the format.
template <HalfType kType>
BITPROOF_KERNEL float gelu_in_half_steps(float x) {
  using F = Format<kType>;
  using kernels::add, kernels::multiply;
  const auto rounded = [](float value) { return F::widen(F::round(value)); };
  const float beta = rounded(float_of_bits(0x3F4C422Au)), kappa = rounded(0.044715f);
  const float cube = rounded(multiply(rounded(multiply(x, x)), x));
  const float u = rounded(multiply(beta, rounded(add(x, rounded(multiply(kappa, cube))))));
  return multiply(rounded(multiply(0.5f, x)), rounded(add(1.0f, rounded(eager_tanh(u)))));
}

template <HalfType kType>
BITPROOF_KERNEL float gelu(Fault fault, float x) {
  switch (fault) {
    case Fault::tanh_approx:
    case Fault::sigmoid_form:
    case Fault::exp_quotient:
    case Fault::erf_form:
    case Fault::tanh_saturates_early:
    case Fault::fma_tail:
    case Fault::beta_one_ulp_off:
    case Fault::beta_of_another_library:
    case Fault::kappa_one_ulp_off:
    case Fault::kappa_folded:
      return gelu_by_formula(fault, x);
    case Fault::every_step_rounded:
      return gelu_in_half_steps<kType>(x);
    default:
      return kernels::gelu_tanh_fast(x);
  }
}

// The sum as GELU sees it, in FP32.
template <HalfType kType>
BITPROOF_KERNEL float faulty_sum(Fault fault, float x, float bias, std::uint32_t noise) {
  using F = Format<kType>;
  const float sum = kernels::add(x, bias);
  switch (fault) {
    case Fault::sum_not_rounded:
      return sum;
    case Fault::sum_truncated:
      return F::widen(round_by<kType>(sum, Rounding::toward_zero, 0));
    case Fault::sum_rounded_half_up:
      return F::widen(round_by<kType>(sum, Rounding::half_up, 0));
    case Fault::sum_rounded_half_away:
      return F::widen(round_by<kType>(sum, Rounding::half_away, 0));
    case Fault::sum_rounded_stochastically:
      return F::widen(round_by<kType>(sum, Rounding::stochastic, noise));
    default:
      return F::widen(F::round(sum));
  }
}

template <HalfType kType>
BITPROOF_KERNEL std::uint16_t faulty_round(Fault fault, float x) {
  if (fault == Fault::result_truncated) return round_by<kType>(x, Rounding::toward_zero, 0);
  if (fault == Fault::result_rounded_twice) return round_twice<kType>(x);
  return Format<kType>::round(x);
}

// What the fault makes of the right result, given the bits that went in.
template <HalfType kType>
BITPROOF_KERNEL std::uint16_t faulty_special(Fault fault, std::uint16_t x, std::uint16_t bias, float sum,
                                             std::uint16_t result) {
  using F = Format<kType>;
  switch (fault) {
    case Fault::subnormal_results_flushed:
      return F::is_subnormal(result) ? static_cast<std::uint16_t>(result & 0x8000u) : result;
    case Fault::nan_payload_kept:
      if (F::is_nan(x)) return static_cast<std::uint16_t>(x | F::kQuietBit);
      return F::is_nan(bias) ? static_cast<std::uint16_t>(bias | F::kQuietBit) : result;
    case Fault::nan_of_the_cpu:
      return F::is_nan(result) ? static_cast<std::uint16_t>(F::kInfinity | F::kQuietBit) : result;
    case Fault::nan_to_negative_zero:
      return F::is_nan(result) ? std::uint16_t{0x8000} : result;
    case Fault::nan_to_largest:
      return F::is_nan(result) ? static_cast<std::uint16_t>(F::kInfinity - 1) : result;
    case Fault::negative_infinity_to_zero:
      return bits_of_float(sum) == 0xFF800000u ? std::uint16_t{0} : result;
    case Fault::negative_infinity_to_negative_zero:
      return bits_of_float(sum) == 0xFF800000u ? std::uint16_t{0x8000} : result;
    default:
      return result;
  }
}

// One element. `bias` counts only with `has_bias`; `noise` is what stochastic rounding draws, and is the
// element's own.
template <HalfType kType>
BITPROOF_KERNEL std::uint16_t element(Fault fault, std::uint16_t x, std::uint16_t bias, bool has_bias,
                                      std::uint32_t noise) {
  using F = Format<kType>;
  if (fault == Fault::subnormal_inputs_flushed) {
    if (F::is_subnormal(x)) x &= 0x8000u;
    if (F::is_subnormal(bias)) bias &= 0x8000u;
  }
  const float wide = F::widen(x), wide_bias = has_bias ? F::widen(bias) : 0.0f;
  if (fault == Fault::bias_added_after_gelu && has_bias)
    return F::round(kernels::add(F::widen(F::round(kernels::gelu_tanh_fast(wide))), wide_bias));
  const float sum = has_bias ? faulty_sum<kType>(fault, wide, wide_bias, noise) : wide;
  const std::uint16_t result = faulty_round<kType>(fault, gelu<kType>(fault, sum));
  return faulty_special<kType>(fault, x, has_bias ? bias : std::uint16_t{0}, sum, result);
}

}  // namespace bitproof::conformance::mutants
