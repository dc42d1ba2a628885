// What the reference predicts for a case: accumulators once, and from them the outputs under either contract.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/linear/domains.h"
#include "reference/linear/epilogue_difference.h"
#include "reference/linear/gelu_epilogue.h"
#include "reference/operators.h"
#include "reference/profile.h"
#include "reference/unary_map.h"

namespace bitproof::conformance {

// A case with its operands and, for the tested rows in order, the FP32 accumulators, bias included.
template <reference::Half T>
struct PredictedCase {
  HostLayer<T> layer;
  std::vector<float> accumulators;  // [tested rows, columns]; empty where the case must be refused
};

// Which case of which domain: the checks of one domain, whatever their implementation and profile, share it.
struct CaseKey {
  std::string domain;
  Location location = Location::host;
  std::uint64_t seed = 0;
  std::uint64_t block = 0;
};

// Made on the first call for a key, and kept until a case of another domain, dtype or seed is asked for: the
// checks of a domain follow one another in a plan. Not from a task: it waits for tasks of its own under a lock.
template <reference::Half T>
std::shared_ptr<const PredictedCase<T>> predicted_case(const LinearCase& c, const CaseKey& key);

// Whose bits an implementation must have.
class LinearContract {
 public:
  // Those of eager linear + GELU.
  static LinearContract eager(const reference::Profile& profile) { return LinearContract(profile, false); }
  // Those of the GELU_BIAS epilogue (profile cublaslt-13-gelu-epilogue). `profile` is what differences are
  // explained against.
  static LinearContract epilogue(const reference::Profile& profile) { return LinearContract(profile, true); }

  bool is_epilogue() const { return is_epilogue_; }
  const reference::Profile& eager_profile() const { return profile_; }
  std::string_view profile_name() const {
    return is_epilogue_ ? reference::kGeluEpilogueProfile : profile_.name;
  }

 private:
  LinearContract(const reference::Profile& profile, bool is_epilogue)
      : profile_(profile), is_epilogue_(is_epilogue) {}

  reference::Profile profile_;
  bool is_epilogue_;
};

// The outputs that a contract asks for.
template <reference::Half T>
class ExpectedOutputs {
 public:
  explicit ExpectedOutputs(const LinearContract& contract)
      : contract_(contract), gelu_([&](T x) { return reference::gelu_tanh(x, contract.eager_profile()); }) {}

  const LinearContract& contract() const { return contract_; }

  T operator()(float accumulator) const {
    return contract_.is_epilogue() ? reference::gelu_epilogue<T>(accumulator)
                                   : gelu_(reference::round_to<T>(accumulator));
  }

  // Why `got` stands where this contract wants something else: what separates the two paths there, if `got` is
  // what the other path gives.
  std::optional<reference::EpilogueDifference> explanation(float accumulator, T got) const {
    const auto pair = reference::compare_epilogue<T>(accumulator, contract_.eager_profile());
    const T of_other_path = contract_.is_epilogue() ? pair.eager : pair.epilogue;
    if (pair.difference == reference::EpilogueDifference::none || got != of_other_path) return std::nullopt;
    return pair.difference;
  }

 private:
  LinearContract contract_;
  reference::UnaryMap<T> gelu_;
};

}  // namespace bitproof::conformance
