#include "conformance/linear/operands.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "conformance/digest.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

template <Half T>
constexpr int kExponentBias = (1 << (T::kExponentBits - 1)) - 1;

// Close enough to a normal distribution of deviation 1: the sum of four uniform numbers of 16 bits.
float normal_number(std::uint64_t random) {
  std::int64_t sum = -2 * 65535;
  for (int i = 0; i < 4; ++i) sum += static_cast<std::int64_t>(random >> (16 * i) & 0xFFFF);
  return static_cast<float>(sum) * (1.7320508f / 65536.0f);
}

// A number with exponent low + 0 ... low + count - 1, clamped to T's normal numbers.
template <Half T>
T in_binades(std::uint64_t random, int low, int count) {
  const int exponent = low + static_cast<int>((random >> 32) % static_cast<std::uint64_t>(count));
  const auto field = static_cast<unsigned>(std::clamp(exponent + kExponentBias<T>, 1, 2 * kExponentBias<T>));
  const unsigned fraction = random & ((1u << T::kFractionBits) - 1);
  return T{static_cast<std::uint16_t>((random >> 63) << 15 | field << T::kFractionBits | fraction)};
}

template <Half T>
T element(OperandKind kind, float scale, std::uint64_t random) {
  switch (kind) {
    case OperandKind::activations:
    case OperandKind::non_finite:
      return reference::round_to<T>(scale * normal_number(random));
    case OperandKind::wide:
      return in_binades<T>(random, -14, 28);
    case OperandKind::cancelling: {
      const T number = in_binades<T>(random, 0, 2);
      return T{static_cast<std::uint16_t>(number.bits & ~((1u << (T::kFractionBits - 1)) - 1))};
    }
    case OperandKind::large:
      return in_binades<T>(random, kExponentBias<T> / 2 - 2, 5);
    case OperandKind::subnormal:
      return T{static_cast<std::uint16_t>((random >> 63) << 15 | random % (3u << T::kFractionBits))};
  }
  return T{};
}

template <Half T>
std::vector<T> elements(std::size_t count, OperandKind kind, float scale, std::uint64_t seed) {
  std::vector<T> result(count);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 16), [&](const auto& part) {
    for (std::size_t i = part.begin(); i < part.end(); ++i)
      result[i] = element<T>(kind, scale, mix64(mix64(seed) + i));
  });
  return result;
}

}  // namespace

template <Half T>
HostLayer<T> random_layer(const reference::GemmShape& shape, OperandKind kind, std::uint64_t seed) {
  const float weight_scale = 1.0f / std::sqrt(static_cast<float>(std::max<std::size_t>(shape.depth, 1)));
  HostLayer<T> layer{.shape = shape,
                     .x = elements<T>(shape.rows * shape.depth, kind, 1.0f, mix64(seed) + 1),
                     .weight = elements<T>(shape.columns * shape.depth, kind, weight_scale, mix64(seed) + 2),
                     .bias = elements<T>(shape.columns, kind, 0.5f, mix64(seed) + 3)};
  if (kind == OperandKind::non_finite) {
    const T specials[] = {reference::kPositiveInfinity<T>, reference::kNegativeInfinity<T>, T{0x7FFF},
                          T{0xFFFF}};
    for (std::size_t row = 0; row < shape.rows; row += 4)
      layer.x[row * shape.depth + mix64(seed + row) % shape.depth] = specials[row / 4 % 4];
  }
  return layer;
}

template HostLayer<reference::Bf16> random_layer(const reference::GemmShape&, OperandKind, std::uint64_t);
template HostLayer<reference::Fp16> random_layer(const reference::GemmShape&, OperandKind, std::uint64_t);

}  // namespace bitproof::conformance
