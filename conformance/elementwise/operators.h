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
  reference::Activation activation = reference::Activation::gelu_tanh;  // f
};

// Those that this project has kernels of: what `run` checks.
inline constexpr std::array kElementwiseOperators{
    ElementwiseOperator{"bias_gelu_tanh", true},
    ElementwiseOperator{"gelu_tanh", false},
};

// Those that it has a reference of and no kernel: contracts for kernels of other people.
inline constexpr std::array kContractOnlyOperators{
    ElementwiseOperator{"gelu_erf", false, reference::Activation::gelu_erf},
    ElementwiseOperator{"silu", false, reference::Activation::silu},
};

constexpr std::optional<ElementwiseOperator> find_elementwise_operator(std::string_view name) {
  for (const ElementwiseOperator& op : kElementwiseOperators)
    if (op.name == name) return op;
  for (const ElementwiseOperator& op : kContractOnlyOperators)
    if (op.name == name) return op;
  return std::nullopt;
}

}  // namespace bitproof::conformance
