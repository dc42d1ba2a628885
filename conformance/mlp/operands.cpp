#include "conformance/mlp/operands.h"

#include <cmath>
#include <cstddef>
#include <mutex>
#include <tuple>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "conformance/digest.h"
#include "reference/nvfp4/quantise.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

// The sum of the four 16-bit numbers in `random`, centred, of deviation 1.
float about_normal(std::uint64_t random) {
  std::int64_t sum = -2 * 65535;
  for (int i = 0; i < 4; ++i) sum += static_cast<std::int64_t>(random >> (16 * i) & 0xFFFF);
  return static_cast<float>(sum) * (1.7320508f / 65536.0f);
}

template <Half T>
std::vector<T> elements(std::uint64_t count, float deviation, std::uint64_t seed) {
  std::vector<T> result(count);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 16), [&](const auto& part) {
    for (std::size_t i = part.begin(); i < part.end(); ++i)
      result[i] = reference::round_to<T>(deviation * about_normal(mix64(mix64(seed) + i)));
  });
  return result;
}

template <Half T>
MlpOperands<T> make_operands(const MlpShape& shape, std::uint64_t seed) {
  const auto weight_deviation = [](std::uint64_t depth) { return 1.0f / std::sqrt(static_cast<float>(depth)); };
  const auto stream = [seed](std::uint64_t number) { return mix64(seed) + number; };
  return {.shape = shape,
          .x = elements<T>(shape.rows * shape.depth, 1.0f, stream(1)),
          .weight1 = elements<T>(shape.hidden * shape.depth, weight_deviation(shape.depth), stream(2)),
          .bias1 = elements<T>(shape.hidden, 0.5f, stream(3)),
          .weight2 = elements<T>(shape.columns * shape.hidden, weight_deviation(shape.hidden), stream(4)),
          .bias2 = elements<T>(shape.columns, 0.5f, stream(5))};
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
