#include "tests/kernels/linear_gelu/probe/operands.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include <oneapi/tbb/blocked_range.h>
#include <oneapi/tbb/parallel_for.h>

#include "conformance/digest.h"

namespace bitproof::probe {
namespace {

using conformance::mix64;
using reference::Half;

// Close enough to a normal distribution of deviation 1: the sum of four uniform numbers of 16 bits.
float normal_number(std::uint64_t random) {
  std::int64_t sum = -2 * 65535;
  for (int i = 0; i < 4; ++i) sum += static_cast<std::int64_t>(random >> (16 * i) & 0xFFFF);
  return static_cast<float>(sum) * (1.7320508f / 65536.0f);
}

// A number with exponent low + 0 ... low + count - 1, clamped to T's normal numbers.
template <Half T>
T in_binades(std::uint64_t random, int low, int count) {
  constexpr int kBias = (1 << (T::kExponentBits - 1)) - 1;
  const int exponent = low + static_cast<int>((random >> 32) % static_cast<std::uint64_t>(count));
  const auto field = static_cast<unsigned>(std::clamp(exponent + kBias, 1, 2 * kBias));
  const unsigned fraction = random & ((1u << T::kFractionBits) - 1);
  return T{static_cast<std::uint16_t>((random >> 63) << 15 | field << T::kFractionBits | fraction)};
}

template <Half T>
T element(Data data, float scale, std::uint64_t random) {
  constexpr int kBias = (1 << (T::kExponentBits - 1)) - 1;
  switch (data) {
    case Data::normal:
    case Data::non_finite:
      return reference::round_to<T>(scale * normal_number(random));
    case Data::wide:
      return in_binades<T>(random, -14, 28);
    case Data::cancelling: {
      const T number = in_binades<T>(random, 0, 2);
      return T{static_cast<std::uint16_t>(number.bits & ~((1u << (T::kFractionBits - 1)) - 1))};
    }
    case Data::large:
      return in_binades<T>(random, kBias / 2 - 2, 5);
    case Data::subnormal:
      return T{static_cast<std::uint16_t>((random >> 63) << 15 | random % (3u << T::kFractionBits))};
  }
  return T{};
}

template <Half T>
std::vector<T> elements(std::size_t count, Data data, float scale, std::uint64_t seed) {
  std::vector<T> result(count);
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, 1 << 16), [&](const auto& part) {
    for (std::size_t i = part.begin(); i < part.end(); ++i)
      result[i] = element<T>(data, scale, mix64(mix64(seed) + i));
  });
  return result;
}

}  // namespace

template <Half T>
HostLayer<T> make_layer(const reference::GemmShape& shape, Data data, std::uint64_t seed) {
  const float weight_scale = 1.0f / std::sqrt(static_cast<float>(std::max<std::size_t>(shape.depth, 1)));
  HostLayer<T> layer{.shape = shape,
                     .x = elements<T>(shape.rows * shape.depth, data, 1.0f, 3 * seed),
                     .weight = elements<T>(shape.columns * shape.depth, data, weight_scale, 3 * seed + 1),
                     .bias = elements<T>(shape.columns, data, 0.5f, 3 * seed + 2)};
  if (data == Data::non_finite) {
    const T specials[] = {reference::kPositiveInfinity<T>, reference::kNegativeInfinity<T>, T{0x7FFF},
                          T{0xFFFF}};
    for (std::size_t row = 0; row < shape.rows; row += 4)
      layer.x[row * shape.depth + mix64(seed + row) % shape.depth] = specials[row / 4 % 4];
  }
  return layer;
}

template HostLayer<reference::Bf16> make_layer(const reference::GemmShape&, Data, std::uint64_t);
template HostLayer<reference::Fp16> make_layer(const reference::GemmShape&, Data, std::uint64_t);

}  // namespace bitproof::probe
