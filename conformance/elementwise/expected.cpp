#include "conformance/elementwise/expected.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <tbb/blocked_range.h>
#include <tbb/parallel_reduce.h>

#include "conformance/comparison.h"
#include "conformance/digest_bulk.h"
#include "reference/environment.h"

namespace bitproof::conformance {

using reference::Half;

template <Half T>
Expected<T>::Expected(const ElementwiseOperator& op, const reference::Profile& profile)
    : op_(op), map_([&op, &profile](T x) { return reference::apply(op.activation, x, profile); }) {}

template <Half T>
std::vector<T> Expected<T>::bias(const Case& c) const {
  std::vector<T> bias;
  if (!op_.has_bias) return bias;
  bias.reserve(c.width);
  for (std::uint64_t column = 0; column < c.width; ++column) bias.push_back(T{c.source.bias(column)});
  return bias;
}

template <Half T>
void Expected<T>::row(const Case& c, std::uint64_t row, std::span<const T> bias, std::span<T> inputs,
                      std::span<T> outputs) const {
  for (std::uint64_t column = 0; column < c.width; ++column) inputs[column] = T{c.source.input(row, column)};
  if (!op_.has_bias) {
    map_.apply(inputs, outputs);
  } else if (c.source.rule == InputRule::all_pairs) {
    map_.apply_to_sums(inputs[0], bias, outputs);  // a row of pairs has one input
  } else {
    map_.apply_to_sums(inputs, bias, outputs);
  }
}

template <Half T>
std::uint64_t Expected<T>::compute_digest(const Case& c, std::uint64_t seed) const {
  const std::vector<T> biases = bias(c);
  constexpr std::uint64_t kElementsPerTask = 1u << 18;
  const std::uint64_t rows_per_task = std::max<std::uint64_t>(1, kElementsPerTask / c.width);
  return tbb::parallel_reduce(
      tbb::blocked_range<std::uint64_t>(0, c.rows, rows_per_task), std::uint64_t{0},
      [&](const tbb::blocked_range<std::uint64_t>& rows, std::uint64_t sum) {
        reference::require_environment();
        std::vector<T> inputs(c.width), outputs(c.width);
        for (std::uint64_t r = rows.begin(); r != rows.end(); ++r) {
          row(c, r, biases, inputs, outputs);
          sum += conformance::digest(bits_of<T>(outputs), c.first_index + r * c.width, seed);
        }
        return sum;
      },
      std::plus<>());
}

template <Half T>
std::uint64_t Expected<T>::digest(const Case& c, const BlockOfDomain& block) const {
  if (const auto known = KnownDigests::shared().find(block)) return *known;
  const std::uint64_t computed = compute_digest(c, block.seed);
  KnownDigests::shared().add(block, computed);
  return computed;
}

template <Half T>
std::shared_ptr<Expected<T>> expected_for(const ElementwiseOperator& op, const reference::Profile& profile) {
  static std::mutex mutex;
  static std::map<std::pair<std::string_view, std::string_view>, std::shared_ptr<Expected<T>>> known;
  const std::lock_guard lock(mutex);
  std::shared_ptr<Expected<T>>& entry = known[{op.name, profile.name}];
  if (!entry) entry = std::make_shared<Expected<T>>(op, profile);
  return entry;
}

template class Expected<reference::Bf16>;
template class Expected<reference::Fp16>;
template std::shared_ptr<Expected<reference::Bf16>> expected_for(const ElementwiseOperator&,
                                                                 const reference::Profile&);
template std::shared_ptr<Expected<reference::Fp16>> expected_for(const ElementwiseOperator&,
                                                                 const reference::Profile&);

}  // namespace bitproof::conformance
