#include "conformance/mlp/operands.h"

#include <mutex>
#include <utility>

#include "conformance/digest.h"
#include "conformance/linear/operands.h"
#include "reference/nvfp4/quantise.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

template <Half T>
MlpOperands<T> make_operands(const MlpShape& shape, std::uint64_t seed) {
  const auto layer = [](std::uint64_t rows, std::uint64_t depth, std::uint64_t columns,
                        std::uint64_t of_layer) {
    return random_layer<T>({.rows = rows, .columns = columns, .depth = depth}, OperandKind::activations,
                           of_layer);
  };
  // The second layer's input is what the first one gives.
  HostLayer<T> first = layer(shape.rows, shape.depth, shape.hidden, seed);
  HostLayer<T> second = layer(0, shape.hidden, shape.columns, mix64(~seed));
  return {.shape = shape,
          .x = std::move(first.x),
          .weight1 = std::move(first.weight),
          .bias1 = std::move(first.bias),
          .weight2 = std::move(second.weight),
          .bias2 = std::move(second.bias)};
}

// The last value made, for as long as its key is asked for.
template <class Value>
class KeepLast {
 public:
  template <class Make>
  std::shared_ptr<const Value> get(const MlpShape& shape, std::uint64_t seed, Make&& make) {
    const std::lock_guard lock(mutex_);
    if (value_ == nullptr || shape != shape_ || seed != seed_) {
      value_ = nullptr;  // before the next one takes as much memory
      value_ = std::make_shared<const Value>(make());
      shape_ = shape;
      seed_ = seed;
    }
    return value_;
  }

 private:
  std::mutex mutex_;
  MlpShape shape_;
  std::uint64_t seed_ = 0;
  std::shared_ptr<const Value> value_;
};

}  // namespace

template <Half T>
std::shared_ptr<const MlpOperands<T>> mlp_operands(const MlpShape& shape, std::uint64_t seed) {
  static KeepLast<MlpOperands<T>> kept;
  return kept.get(shape, seed, [&] { return make_operands<T>(shape, seed); });
}

template <Half T>
std::shared_ptr<const reference::Nvfp4Matrix> nvfp4_weight(const MlpShape& shape, std::uint64_t seed) {
  static KeepLast<reference::Nvfp4Matrix> kept;
  return kept.get(shape, seed, [&] {
    const std::vector<T>& weight = mlp_operands<T>(shape, seed)->weight1;
    return reference::quantise_nvfp4<T>(weight, shape.depth, reference::nvfp4_tensor_scale<T>(weight));
  });
}

#define BITPROOF_INSTANTIATE(T)                                                                \
  template std::shared_ptr<const MlpOperands<T>> mlp_operands(const MlpShape&, std::uint64_t); \
  template std::shared_ptr<const reference::Nvfp4Matrix> nvfp4_weight<T>(const MlpShape&, std::uint64_t);
BITPROOF_INSTANTIATE(reference::Bf16)
BITPROOF_INSTANTIATE(reference::Fp16)
#undef BITPROOF_INSTANTIATE

}  // namespace bitproof::conformance
