#include "conformance/elementwise/divergence.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

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

// A known way to wrong bits.
template <Half T>
struct KnownWay {
  std::string words;
  bool same_activation = false;
  std::function<T(const WrongElement<T>&)> result;
};

// Every one that gives the element's bits.
template <Half T>
std::vector<KnownWay<T>> known_ways(const ElementwiseOperator& op, const Profile& profile,
                                    const WrongElement<T>& at, const Trace<T>& right) {
  std::vector<KnownWay<T>> found;
  for (const Deviation& deviation : kDeviations) {
    const Profile deviating = deviation.apply(profile);
    const Trace<T> other = trace(op, deviating, at.input, at.bias);
    if (other.result != at.got) continue;
    found.push_back({first_difference(right.steps, other.steps) + ": " + std::string(deviation.words), true,
                     [op, deviating](const WrongElement<T>& element) {
                       return trace(op, deviating, element.input, element.bias).result;
                     }});
  }
  for (const OtherActivation& other : kActivations) {
    if (other.activation == op.activation) continue;
    const auto result = [op, profile, activation = other.activation](const WrongElement<T>& element) {
      return reference::apply(activation, activation_argument(op, profile, element.input, element.bias),
                              profile);
    };
    if (result(at) == at.got) found.push_back({std::string(other.words), false, result});
  }
  return found;
}

// A result beside the right one, on the side of the FP32 value's magnitude.
template <Half T>
bool is_neighbour_toward_zero(T got, T right) {
  return reference::is_finite(got) && reference::is_finite(right) && reference::ulp_distance(got, right) == 1 &&
         reference::sign_bit(got) == reference::sign_bit(right) &&
         reference::magnitude_bits(got) < reference::magnitude_bits(right);
}

}  // namespace

template <Half T>
std::string step_where_computations_part(const ElementwiseOperator& op, const Profile& profile,
                                         std::span<const WrongElement<T>> elements) {
  if (elements.empty()) return {};
  const WrongElement<T>& first = elements.front();
  const Trace<T> right = trace(op, profile, first.input, first.bias);
  if (first.got == right.result) return {};
  const std::vector<KnownWay<T>> found = known_ways(op, profile, first, right);
  std::vector<KnownWay<T>> of_all;
  std::ranges::copy_if(found, std::back_inserter(of_all), [&](const KnownWay<T>& each) {
    return std::ranges::all_of(elements, [&](const WrongElement<T>& at) { return each.result(at) == at.got; });
  });
  std::string words;
  bool is_explained = false;
  for (const KnownWay<T>& each : of_all.empty() ? found : of_all) {
    // Of deviations within the operator the first and simplest.
    if (each.same_activation && std::exchange(is_explained, true)) continue;
    words += (words.empty() ? "" : "; or ") + each.words;
  }
  if (words.empty() && is_neighbour_toward_zero(first.got, right.result))
    return "result: as if the last rounding were toward zero, or the FP32 value slightly smaller";
  return words;
}

template std::string step_where_computations_part(const ElementwiseOperator&, const Profile&,
                                                  std::span<const WrongElement<reference::Bf16>>);
template std::string step_where_computations_part(const ElementwiseOperator&, const Profile&,
                                                  std::span<const WrongElement<reference::Fp16>>);

}  // namespace bitproof::conformance
