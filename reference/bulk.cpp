#include "reference/bulk.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "reference/environment.h"
#include "reference/operators.h"

namespace bitproof::reference {
namespace {

// Elements of a task: large enough that scheduling does not show, small enough for the first-level cache.
constexpr std::size_t kGrain = 1u << 13;

// From this size on the 65,536 scalar evaluations of a map are worth it.
constexpr std::size_t kWorthAMap = 1u << 16;

// Calls body(begin, end) for parts of [0, count), on several threads, each of which must have the right
// environment.
template <class Body>
void for_each_chunk(std::size_t count, const Body& body) {
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, count, kGrain), [&body](const auto& range) {
    require_environment();
    body(range.begin(), range.end());
  });
}

template <class T>
std::optional<UnaryMap<T>> map_if_worth_it(std::size_t count, const Profile& profile) {
  if (count < kWorthAMap) return std::nullopt;
  return gelu_tanh_map<T>(profile);
}

// `row` repeated until it is long enough for one vectorised call to cover many rows of a narrow tensor.
template <class T>
std::vector<T> repeated(std::span<const T> row) {
  const std::size_t times = std::max<std::size_t>(1, kGrain / row.size());
  std::vector<T> result;
  result.reserve(times * row.size());
  for (std::size_t i = 0; i < times; ++i) result.insert(result.end(), row.begin(), row.end());
  return result;
}

// Calls body(element, period offset, count) for the pieces of [begin, end) that do not wrap around `period`.
template <class Body>
void for_each_piece(std::size_t begin, std::size_t end, std::size_t period, const Body& body) {
  for (std::size_t i = begin; i < end;) {
    const std::size_t offset = i % period;
    const std::size_t count = std::min(period - offset, end - i);
    body(i, offset, count);
    i += count;
  }
}

}  // namespace

template <Half T>
UnaryMap<T> gelu_tanh_map(const Profile& profile) {
  require_environment();
  return UnaryMap<T>([&profile](T x) { return gelu_tanh(x, profile); });
}

template <Half T>
void gelu_tanh(std::span<const T> x, std::span<T> out, const Profile& profile) {
  if (x.size() != out.size()) throw std::invalid_argument("gelu_tanh: input and output differ in length");
  const auto map = map_if_worth_it<T>(x.size(), profile);
  for_each_chunk(x.size(), [&](std::size_t begin, std::size_t end) {
    if (map) return map->apply(x.subspan(begin, end - begin), out.subspan(begin, end - begin));
    for (std::size_t i = begin; i < end; ++i) out[i] = gelu_tanh(x[i], profile);
  });
}

template <Half T>
void bias_gelu_tanh(std::span<const T> x, std::span<const T> bias, std::span<T> out, const Profile& profile) {
  if (x.size() != out.size()) throw std::invalid_argument("bias_gelu_tanh: input and output differ in length");
  if (x.empty()) return;
  if (bias.empty() || x.size() % bias.size() != 0) {
    throw std::invalid_argument("bias_gelu_tanh: the input is not a whole number of rows as long as the bias");
  }
  // Only a sum that is rounded to T can be looked up.
  const bool look_up = profile.sum_rounding == SumRounding::to_dtype;
  const auto map = look_up ? map_if_worth_it<T>(x.size(), profile) : std::nullopt;
  const std::vector<T> period = repeated(bias);
  for_each_chunk(x.size(), [&](std::size_t begin, std::size_t end) {
    for_each_piece(begin, end, period.size(), [&](std::size_t first, std::size_t offset, std::size_t count) {
      const std::span<const T> piece_bias = std::span(period).subspan(offset, count);
      if (map) return map->apply_to_sums(x.subspan(first, count), piece_bias, out.subspan(first, count));
      for (std::size_t i = 0; i < count; ++i)
        out[first + i] = bias_gelu_tanh(x[first + i], piece_bias[i], profile);
    });
  });
}

template UnaryMap<Bf16> gelu_tanh_map(const Profile&);
template UnaryMap<Fp16> gelu_tanh_map(const Profile&);
template void gelu_tanh(std::span<const Bf16>, std::span<Bf16>, const Profile&);
template void gelu_tanh(std::span<const Fp16>, std::span<Fp16>, const Profile&);
template void bias_gelu_tanh(std::span<const Bf16>, std::span<const Bf16>, std::span<Bf16>, const Profile&);
template void bias_gelu_tanh(std::span<const Fp16>, std::span<const Fp16>, std::span<Fp16>, const Profile&);

}  // namespace bitproof::reference
