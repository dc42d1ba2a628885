#include "reference/nvfp4/quantise.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "reference/environment.h"

namespace bitproof::reference {
namespace {

constexpr float kLargestProduct = 2688;  // 6 * 448

// What an element contributes to the largest magnitude of its block and tensor.
template <Half T>
float counted_magnitude(T x) {
  if (is_nan(x)) return 0;
  return std::fabs(widen(is_finite(x) ? x : kLargest<T>));
}

template <Half T>
float largest_magnitude(std::span<const T> x) {
  float largest = 0;
  for (const T value : x) largest = std::max(largest, counted_magnitude(value));
  return largest;
}

template <Half T>
void quantise_block(std::span<const T> x, float tensor_scale, Nvfp4Matrix& matrix) {
  const E4m3 scale = round_to_scale(largest_magnitude(x) / (6.0f * tensor_scale));
  matrix.scales.push_back(scale);
  const float unit = widen(scale) * tensor_scale;
  for (const T value : x)
    matrix.values.push_back(scale.bits == 0 ? E2m1{static_cast<std::uint8_t>(sign_bit(value) ? 0x8 : 0)}
                                            : round_to_e2m1(widen(value) / unit));
}

}  // namespace

template <Half T>
float nvfp4_tensor_scale(std::span<const T> x) {
  require_environment();
  const float largest = largest_magnitude(x);
  return largest == 0 ? 1.0f : largest / kLargestProduct;
}

template <Half T>
Nvfp4Matrix quantise_nvfp4(std::span<const T> x, std::size_t depth, float tensor_scale) {
  require_environment();
  if (depth == 0 || depth % kNvfp4Block != 0 || x.size() % depth != 0)
    throw std::invalid_argument("quantise_nvfp4: the depth must be a multiple of 16, and x whole rows");
  Nvfp4Matrix matrix{
      .rows = x.size() / depth, .depth = depth, .values = {}, .scales = {}, .tensor_scale = tensor_scale};
  matrix.values.reserve(x.size());
  matrix.scales.reserve(x.size() / kNvfp4Block);
  for (std::size_t first = 0; first < x.size(); first += kNvfp4Block)
    quantise_block(x.subspan(first, kNvfp4Block), tensor_scale, matrix);
  return matrix;
}

template <Half T>
std::vector<T> dequantise_nvfp4(const Nvfp4Matrix& matrix) {
  require_environment();
  if (matrix.values.size() != matrix.rows * matrix.depth ||
      matrix.values.size() != matrix.scales.size() * kNvfp4Block)
    throw std::invalid_argument("dequantise_nvfp4: the sizes do not match");
  if (!std::ranges::all_of(matrix.scales, is_scale))
    throw std::invalid_argument("dequantise_nvfp4: a scale is negative or not a number");
  std::vector<T> result;
  result.reserve(matrix.values.size());
  for (std::size_t i = 0; i < matrix.values.size(); ++i)
    result.push_back(product<T>(matrix.values[i], matrix.scales[i / kNvfp4Block]));
  return result;
}

#define BITPROOF_INSTANTIATE(T)                                                \
  template float nvfp4_tensor_scale(std::span<const T>);                       \
  template Nvfp4Matrix quantise_nvfp4(std::span<const T>, std::size_t, float); \
  template std::vector<T> dequantise_nvfp4(const Nvfp4Matrix&);
BITPROOF_INSTANTIATE(Bf16)
BITPROOF_INSTANTIATE(Fp16)
#undef BITPROOF_INSTANTIATE

}  // namespace bitproof::reference
