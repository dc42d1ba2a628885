// Operands of an MLP on the host: those of two layers (conformance/linear/operands.h).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "reference/half.h"
#include "reference/nvfp4/mlp.h"

namespace bitproof::conformance {

// x [rows, depth], first layer [hidden, depth], second layer [columns, hidden].
struct MlpShape {
  std::uint64_t rows = 0, depth = 0, hidden = 0, columns = 0;
  bool operator==(const MlpShape&) const = default;
};

// Wan2.2's MLP, and one that a CPU predicts in milliseconds.
inline constexpr MlpShape kWanMlp{.rows = 4096, .depth = 5120, .hidden = 13824, .columns = 5120};
inline constexpr MlpShape kSmallMlp{.rows = 48, .depth = 256, .hidden = 768, .columns = 256};

// OperandKind::activations.
template <reference::Half T>
struct MlpOperands {
  MlpShape shape;
  std::vector<T> x, weight1, bias1, weight2, bias2;

  reference::DenseLayer<T> first() const {
    return {.weight = weight1, .bias = bias1, .columns = shape.hidden, .depth = shape.depth};
  }
  reference::DenseLayer<T> second() const {
    return {.weight = weight2, .bias = bias2, .columns = shape.columns, .depth = shape.hidden};
  }
};

// Kept until others are asked for: the checks of one dtype and shape follow one another.
template <reference::Half T>
std::shared_ptr<const MlpOperands<T>> mlp_operands(const MlpShape& shape, std::uint64_t seed);

// The first layer's weight in NVFP4. Kept in the same way.
template <reference::Half T>
std::shared_ptr<const reference::Nvfp4Matrix> nvfp4_weight(const MlpShape& shape, std::uint64_t seed);

}  // namespace bitproof::conformance
