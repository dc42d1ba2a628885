#include "conformance/elementwise/divergence.h"

#include <algorithm>
#include <array>

#include "reference/operators.h"
#include "reference/trace.h"

namespace bitproof::conformance {
namespace {

using reference::Half;
using reference::Profile;
using reference::Trace;
using reference::TraceStep;

struct Deviation {
  std::string_view words;
  Profile (*apply)(Profile);
};

constexpr std::array kDeviations{
    Deviation{"as if the sum were not rounded to the dtype",
              [](Profile profile) {
                profile.sum_rounding = reference::SumRounding::none;
                return profile;
              }},
    Deviation{"as if tanh were tanh.approx.f32",
              [](Profile profile) {
                profile.tanh = reference::Tanh::tanh_approx;
                return profile;
              }},
    Deviation{"as if the sum were not rounded to the dtype and tanh were tanh.approx.f32",
              [](Profile profile) {
                profile.sum_rounding = reference::SumRounding::none;
                profile.tanh = reference::Tanh::tanh_approx;
                return profile;
              }},
};

template <Half T>
Trace<T> trace(const ElementwiseOperator& op, const Profile& profile, T input, T bias) {
  return op.has_bias ? reference::trace_bias_gelu_tanh(input, bias, profile)
                     : reference::trace_activation(op.activation, input, profile);
}

struct OtherActivation {
  reference::Activation activation;
  std::string_view words;
};

constexpr std::array kActivations{
    OtherActivation{reference::Activation::gelu_tanh, "activation: as if it were the tanh form of GELU"},
    OtherActivation{reference::Activation::gelu_erf, "activation: as if it were the erf form of GELU"},
    OtherActivation{reference::Activation::silu, "activation: as if it were SiLU"},
};

// The argument of the activation, as the eager kernel sees it.
template <Half T>
T activation_argument(const ElementwiseOperator& op, const Profile& profile, T input, T bias) {
  if (!op.has_bias) return input;
  return reference::round_result<T>(reference::bias_sum(input, bias, profile), profile);
}

// The first step of `right` that `other` lacks or has with other bits.
std::string first_difference(const std::vector<TraceStep>& right, const std::vector<TraceStep>& other) {
  for (const TraceStep& step : right) {
    const auto same_name = [&step](const TraceStep& candidate) { return candidate.name == step.name; };
    const auto found = std::ranges::find_if(other, same_name);
    if (found == other.end() || found->bits != step.bits) return step.name;
  }
  return {};
}

}  // namespace

template <Half T>
std::string step_where_computations_part(const ElementwiseOperator& op, const Profile& profile, T input, T bias,
                                         T got) {
  const Trace<T> right = trace(op, profile, input, bias);
  if (got == right.result) return {};
  std::string words;
  for (const Deviation& deviation : kDeviations) {
    const Trace<T> other = trace(op, deviation.apply(profile), input, bias);
    if (other.result != got) continue;
    words = first_difference(right.steps, other.steps) + ": " + std::string(deviation.words);
    break;
  }
  // One element may have more than one explanation.
  const T argument = activation_argument(op, profile, input, bias);
  for (const OtherActivation& other : kActivations)
    if (other.activation != op.activation && reference::apply(other.activation, argument, profile) == got)
      words += (words.empty() ? "" : "; or ") + std::string(other.words);
  if (!words.empty()) return words;
  // A result beside the right one, on the side of the FP32 value's magnitude: the last rounding.
  const bool neighbour = reference::is_finite(got) && reference::is_finite(right.result) &&
                         reference::ulp_distance(got, right.result) == 1 &&
                         reference::sign_bit(got) == reference::sign_bit(right.result);
  if (neighbour && reference::magnitude_bits(got) < reference::magnitude_bits(right.result))
    return "result: as if the last rounding were toward zero, or the FP32 value slightly smaller";
  return {};
}

template std::string step_where_computations_part(const ElementwiseOperator&, const Profile&, reference::Bf16,
                                                  reference::Bf16, reference::Bf16);
template std::string step_where_computations_part(const ElementwiseOperator&, const Profile&, reference::Fp16,
                                                  reference::Fp16, reference::Fp16);

}  // namespace bitproof::conformance
