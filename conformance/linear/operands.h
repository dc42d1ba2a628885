// Operands of a linear layer on the host: an element depends on (seed, index) only.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "reference/half.h"
#include "reference/linear/linear.h"

namespace bitproof::conformance {

// What the elements look like.
enum class OperandKind {
  activations,  // about normal: x of deviation 1, weights 1/sqrt(depth), bias 1/2
  wide,         // exponents over 28 binades: truncation at every cut
  cancelling,   // few magnitudes of either sign
  large,        // sums that overflow fp16, and FP32 in bf16
  subnormal,    // the lowest binades
  non_finite,   // activations, with an infinity or a NaN in every fourth row
};

inline constexpr std::array kAllOperandKinds{OperandKind::activations, OperandKind::wide,
                                             OperandKind::cancelling,  OperandKind::large,
                                             OperandKind::subnormal,   OperandKind::non_finite};

constexpr std::string_view name(OperandKind kind) {
  constexpr std::string_view kNames[] = {"activations", "wide",      "cancelling",
                                         "large",       "subnormal", "non-finite"};
  return kNames[static_cast<int>(kind)];
}

// x is [rows, depth], weight [columns, depth], bias [columns].
template <reference::Half T>
struct HostLayer {
  reference::GemmShape shape;
  std::vector<T> x, weight, bias;

  reference::LinearOperands<T> operands(int splits = 1) const {
    return {.x = x, .weight = weight, .bias = bias, .shape = shape, .splits = splits};
  }
};

// All zeros.
template <reference::Half T>
HostLayer<T> zero_layer(const reference::GemmShape& shape) {
  return {.shape = shape,
          .x = std::vector<T>(shape.rows * shape.depth),
          .weight = std::vector<T>(shape.columns * shape.depth),
          .bias = std::vector<T>(shape.columns)};
}

// Runs on oneTBB's workers.
template <reference::Half T>
HostLayer<T> random_layer(const reference::GemmShape& shape, OperandKind kind, std::uint64_t seed);

}  // namespace bitproof::conformance
