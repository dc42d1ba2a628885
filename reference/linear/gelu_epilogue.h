// The GELU of cuBLASLt's GELU and GELU_BIAS epilogues in FP32, exactly. For an FP32 accumulator x, bias
// included:
//
//     u = x * fma(kScaledKappa * x, x, kGeluBeta)
//     y = 0.5 * fma(x, tanh.approx(u), x)
//
// Source: measured on an H200 with CUDA 13.0 with FP32 outputs: 0 mismatches of 62,914,560 accumulators spread
// over the finite FP32 range; fourteen other associations and four other pairs of constants gave 65 or more.
// Non-finite accumulators follow the formula too: +inf gives +inf; -inf, where -inf + -inf * -1 cancels, and
// every NaN, whatever its sign and payload, give 0x7FFFFFFF in FP32 and 0x7FFF in 16 bits
// (fixtures/evidence/linear_gelu_sm_90/accumulators.txt). It
// differs from eager GELU in three ways that show in 16 bits: tanh.approx; +0 in the negative tail, where
// fma(x, -1, x) cancels; and an infinity from |x| = 2^127 on, where x + x overflows before it is halved.
#pragma once

#include <cmath>
#include <string_view>

#include "reference/gelu.h"
#include "reference/half.h"
#include "reference/sfu.h"

namespace bitproof::reference {

// The profile under which the epilogue's bits are reported: its own prediction, not an eager framework's.
inline constexpr std::string_view kGeluEpilogueProfile = "cublaslt-13-gelu-epilogue";

inline constexpr float kScaledKappa = float_from_bits(0x3D12227Eu);  // 0.0356774256, kGeluBeta * 0.044715

// Every intermediate of one evaluation, in order.
struct GeluEpilogueSteps {
  float scaled = 0;         // kScaledKappa * x
  float slope = 0;          // fma(scaled, x, kGeluBeta)
  float tanh_argument = 0;  // x * slope
  float tanh = 0;
  float twice = 0;  // fma(x, tanh, x)
  float result = 0;
};

inline GeluEpilogueSteps gelu_epilogue_steps(float x) {
  GeluEpilogueSteps step;
  step.scaled = kScaledKappa * x;
  step.slope = std::fma(step.scaled, x, kGeluBeta);
  step.tanh_argument = x * step.slope;
  step.tanh = sfu::tanh_approx(step.tanh_argument);
  step.twice = std::fma(x, step.tanh, x);
  step.result = 0.5f * step.twice;
  return step;
}

// Before it is rounded to the output type. The bits of a NaN are not specified here: the last rounding fixes
// them.
inline float gelu_epilogue_fp32(float x) { return gelu_epilogue_steps(x).result; }

// The GELU epilogue's output for the accumulator x.
template <Half T>
T gelu_epilogue(float x) {
  return round_to<T>(gelu_epilogue_fp32(x));
}

}  // namespace bitproof::reference
