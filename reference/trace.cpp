#include "reference/trace.h"

#include <cmath>
#include <limits>
#include <utility>

#include "reference/gelu.h"
#include "reference/operators.h"
#include "reference/tanhf.h"

namespace bitproof::reference {
namespace {

// One FP32 ULP of a finite value: the gap to the next number away from zero.
double fp32_ulp(float value) {
  const int biased_exponent = static_cast<int>(float_bits(value) >> 23 & 0xFF);
  return std::ldexp(1.0, (biased_exponent == 0 ? 1 : biased_exponent) - 127 - 23);
}

// Halfway between a non-negative finite T and the next number above it; the number above kLargest is taken to
// be where it would be if the exponent had no limit.
template <Half T>
double tie_above(T value) {
  const double lower = double{widen(value)};
  const double below = double{widen(next_down(value))};
  if (value == kLargest<T>) return lower + (lower - below) / 2;
  return (lower + double{widen(next_up(value))}) / 2;
}

template <Half T>
class Recorder {
 public:
  void half(std::string name, T value, std::string note) {
    steps_.push_back({std::move(name), value.bits, 16, double{widen(value)}, std::move(note)});
  }

  void fp32(std::string name, float value, std::string note) {
    steps_.push_back({std::move(name), float_bits(value), 32, double{value}, std::move(note)});
  }

  // An FP32 value that is about to be rounded to T.
  void rounded_next(std::string name, float value, std::string note) {
    fp32(std::move(name), value, std::move(note));
    steps_.back().ulps_to_tie = fp32_ulps_to_nearest_tie<T>(value);
  }

  Trace<T> finish(T result) && { return {result, std::move(steps_)}; }

 private:
  std::vector<TraceStep> steps_;
};

template <Half T>
void record_cuda_tanh(Recorder<T>& record, float argument) {
  const CudaTanhSteps step = cuda_tanh_steps(argument);
  if (step.uses_polynomial) {
    record.fp32("tanh: u^2", step.square, "|u| < 0.6: a polynomial in u^2");
    record.fp32("tanh: polynomial", step.polynomial, "Horner's scheme, 4 FMAs");
  } else {
    record.fp32("tanh: ex2 argument", step.ex2_argument, "|u| * 2*log2(e)");
    record.fp32("tanh: ex2", step.ex2, "special-function unit, ex2.approx.ftz.f32");
    record.fp32("tanh: ex2 + 1", step.denominator, "");
    record.fp32("tanh: rcp", step.rcp, "special-function unit, rcp.approx.ftz.f32");
    record.fp32("tanh: 1 - 2*rcp", step.unsigned_tanh, "one FMA; 1 from |u| = 9.01 on");
  }
}

// What ends every trace.
template <Half T>
Trace<T> finish(Recorder<T> record, T result) {
  record.half("result", result, "rounded to nearest even");
  return std::move(record).finish(result);
}

// GELU of `x` and its last rounding.
template <Half T>
Trace<T> finish_gelu(Recorder<T> record, float x, const Profile& profile) {
  if (is_handled_apart(x, profile)) {
    record.rounded_next("gelu", gelu_tanh_fp32(x, profile), "the profile's gelu(-inf)");
  } else {
    const GeluTanhSteps step = gelu_tanh_steps(x, [&profile](float a) { return tanh_fp32(a, profile); });
    record.fp32("x^2", step.square, "x * x");
    record.fp32("x^3", step.cube, "x^2 * x");
    record.fp32("inner", step.inner, "0.044715 * x^3 + x, one FMA");
    record.fp32("u", step.tanh_argument, "sqrt(2/pi) * inner");
    if (profile.tanh == Tanh::cuda_tanhf) record_cuda_tanh(record, step.tanh_argument);
    record.fp32("tanh(u)", step.tanh,
                profile.tanh == Tanh::cuda_tanhf ? "CUDA's tanhf" : "special-function unit, tanh.approx.f32");
    record.fp32("1 + tanh(u)", step.one_plus_tanh, "");
    record.fp32("0.5*x", step.half_x, "");
    record.rounded_next("gelu", step.result, "0.5*x * (1 + tanh(u))");
  }
  return finish(std::move(record), round_result<T>(gelu_tanh_fp32(x, profile), profile));
}

template <Half T>
void record_gelu_erf(Recorder<T>& record, float x) {
  const GeluErfSteps step = gelu_erf_steps(x);
  const CudaErfSteps erf = cuda_erf_steps(step.erf_argument);
  record.fp32("u", step.erf_argument, "sqrt(1/2) * x");
  record.fp32("erf: polynomial", erf.polynomial,
              erf.uses_exponential ? "Horner's scheme in |u|, 6 FMAs" : "Horner's scheme in u^2, 6 FMAs");
  if (erf.uses_exponential) {
    record.fp32("erf: ex2 argument", erf.scaled, "-|u| * polynomial - |u|, one FMA");
    record.fp32("erf: ex2", erf.ex2, "special-function unit, ex2.approx.ftz.f32");
  }
  record.fp32("erf(u)", step.erf,
              erf.uses_exponential ? "CUDA's erff: 1 - ex2, with u's sign"
                                   : "CUDA's erff: u * polynomial + u, one FMA");
  record.fp32("1 + erf(u)", step.one_plus_erf, "");
  record.fp32("0.5*x", step.half_x, "");
  record.rounded_next("gelu", step.result, "0.5*x * (1 + erf(u))");
}

template <Half T>
void record_silu(Recorder<T>& record, float x) {
  const CudaExpSteps exp = cuda_exp_steps(-x);
  const SiluSteps step = silu_steps(x);
  record.fp32("exp: exponent", exp.exponent, "n = floor(-x * log2(e)), between -126 and 126");
  record.fp32("exp: remainder", exp.remainder, "-x * log2(e) - n, two FMAs");
  record.fp32("exp: ex2", exp.ex2, "special-function unit, ex2.approx.ftz.f32");
  record.fp32("1 + exp(-x)", step.one_plus_exp, "ex2 * 2^n + 1, one FMA");
  record.rounded_next("silu", step.result, "x / (1 + exp(-x))");
}

}  // namespace

template <Half T>
double fp32_ulps_to_nearest_tie(float value) {
  if (!std::isfinite(value)) return std::numeric_limits<double>::infinity();
  const double magnitude = std::fabs(double{value});
  T nearest = round_to<T>(std::fabs(value));
  if (nearest == kPositiveInfinity<T>) nearest = kLargest<T>;
  // `nearest` lies between two ties, or is 0, which has none below it.
  double distance = tie_above(nearest) - magnitude;
  if (magnitude_bits(nearest) != 0) {
    const double down = tie_above(next_down(nearest)) - magnitude;
    if (std::fabs(down) < std::fabs(distance)) distance = down;
  }
  return distance / fp32_ulp(value);
}

template <Half T>
Trace<T> trace_gelu_tanh(T x, const Profile& profile) {
  Recorder<T> record;
  record.half("x", x, "input");
  return finish_gelu(std::move(record), widen(x), profile);
}

template <Half T>
Trace<T> trace_activation(Activation activation, T x, const Profile& profile) {
  if (activation == Activation::gelu_tanh) return trace_gelu_tanh(x, profile);
  Recorder<T> record;
  record.half("x", x, "input");
  if (activation == Activation::silu) {
    record_silu(record, widen(x));
  } else if (is_handled_apart(widen(x), profile)) {
    record.rounded_next("gelu", gelu_erf_fp32(widen(x), profile), "the profile's gelu(-inf)");
  } else {
    record_gelu_erf(record, widen(x));
  }
  return finish(std::move(record), apply(activation, x, profile));
}

template <Half T>
Trace<T> trace_bias_gelu_tanh(T x, T bias, const Profile& profile) {
  Recorder<T> record;
  record.half("x", x, "input");
  record.half("bias", bias, "input");
  const float sum = widen(x) + widen(bias);
  if (profile.sum_rounding == SumRounding::none) {
    record.fp32("sum", sum, "x + bias, kept in FP32");
    return finish_gelu(std::move(record), sum, profile);
  }
  const T rounded_sum = round_result<T>(sum, profile);
  record.rounded_next("sum", sum, "x + bias in FP32");
  record.half("rounded sum", rounded_sum, "rounded to nearest even; x from here on");
  return finish_gelu(std::move(record), widen(rounded_sum), profile);
}

template double fp32_ulps_to_nearest_tie<Bf16>(float);
template double fp32_ulps_to_nearest_tie<Fp16>(float);
template Trace<Bf16> trace_gelu_tanh(Bf16, const Profile&);
template Trace<Fp16> trace_gelu_tanh(Fp16, const Profile&);
template Trace<Bf16> trace_activation(Activation, Bf16, const Profile&);
template Trace<Fp16> trace_activation(Activation, Fp16, const Profile&);
template Trace<Bf16> trace_bias_gelu_tanh(Bf16, Bf16, const Profile&);
template Trace<Fp16> trace_bias_gelu_tanh(Fp16, Fp16, const Profile&);

}  // namespace bitproof::reference
