#include "reference/linear/linear.h"

#include <cstddef>
#include <stdexcept>

#include <oneapi/tbb/parallel_for.h>

#include "reference/environment.h"
#include "reference/linear/tensor_core.h"
#include "reference/operators.h"
#include "reference/unary_map.h"

namespace bitproof::reference {
namespace {

// result[i] = function(values[i]), in parallel.
template <class Result, class Function>
std::vector<Result> transformed(std::span<const float> values, Function&& function) {
  constexpr std::size_t kGrain = 4096;
  std::vector<Result> result(values.size());
  tbb::parallel_for(tbb::blocked_range<std::size_t>(0, values.size(), kGrain), [&](const auto& part) {
    require_environment();
    for (std::size_t i = part.begin(); i < part.end(); ++i) result[i] = function(values[i]);
  });
  return result;
}

}  // namespace

template <Half T>
std::vector<float> biased_accumulators(const LinearOperands<T>& operands) {
  const std::size_t columns = operands.shape.columns;
  std::vector<float> sums = gemm(operands.x, operands.weight, operands.shape, operands.splits);
  if (operands.bias.empty()) return sums;
  if (operands.bias.size() != columns)
    throw std::invalid_argument("linear: the bias must have one element a column");
  tbb::parallel_for(std::size_t{0}, operands.shape.rows, [&](std::size_t row) {
    for (std::size_t column = 0; column < columns; ++column) {
      float& sum = sums[row * columns + column];
      sum = canonical_fp32(sum + widen(operands.bias[column]));
    }
  });
  return sums;
}

template <Half T>
std::vector<T> linear(const LinearOperands<T>& operands) {
  return transformed<T>(biased_accumulators(operands), [](float sum) { return round_to<T>(sum); });
}

template <Half T>
std::vector<T> linear_gelu_tanh(const LinearOperands<T>& operands, const Profile& profile) {
  const UnaryMap<T> gelu([&profile](T x) { return gelu_tanh(x, profile); });
  return transformed<T>(biased_accumulators(operands), [&gelu](float sum) { return gelu(round_to<T>(sum)); });
}

template <Half T>
std::vector<T> linear_gelu_epilogue(const LinearOperands<T>& operands) {
  return transformed<T>(biased_accumulators(operands), [](float sum) { return gelu_epilogue<T>(sum); });
}

#define BITPROOF_INSTANTIATE(T)                                                       \
  template std::vector<float> biased_accumulators(const LinearOperands<T>&);          \
  template std::vector<T> linear(const LinearOperands<T>&);                           \
  template std::vector<T> linear_gelu_tanh(const LinearOperands<T>&, const Profile&); \
  template std::vector<T> linear_gelu_epilogue(const LinearOperands<T>&);
BITPROOF_INSTANTIATE(Bf16)
BITPROOF_INSTANTIATE(Fp16)
#undef BITPROOF_INSTANTIATE

}  // namespace bitproof::reference
