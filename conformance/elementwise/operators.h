// The elementwise operators under contract.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "reference/operators.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// output = f(input), or f(round(input + bias)) with bias[width] added to every row: the contract of both is
// that f is the operator's reference for every 16-bit input, bit for bit, under the profile.
struct ElementwiseOperator {
  std::string_view name;
  bool has_bias;
};

inline constexpr std::array kElementwiseOperators{
    ElementwiseOperator{"bias_gelu_tanh", true},
    ElementwiseOperator{"gelu_tanh", false},
};

}  // namespace bitproof::conformance
