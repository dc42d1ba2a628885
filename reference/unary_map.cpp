#include "reference/unary_map.h"

#include <algorithm>
#include <cstddef>
#include <stdexcept>

#include "reference/rounded_add.h"

namespace bitproof::reference {
namespace {

// Sums are written to the output and replaced there by their results, block by block so that they are still in
// the first-level cache: 4 KiB of output, beside as much of each input and the part of the table in use.
constexpr std::size_t kBlock = 2048;

void require_length(std::size_t got, std::size_t expected) {
  if (got != expected) throw std::invalid_argument("UnaryMap: spans differ in length");
}

template <Half T>
void look_up(const T* results, std::span<const T> x, std::span<T> out) {
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = results[x[i].bits];
}

}  // namespace

template <Half T>
void UnaryMap<T>::apply(std::span<const T> x, std::span<T> out) const {
  require_length(x.size(), out.size());
  look_up(results_.data(), x, out);
}

template <Half T>
void UnaryMap<T>::apply_to_sums(std::span<const T> x, std::span<const T> bias, std::span<T> out) const {
  require_length(x.size(), out.size());
  require_length(bias.size(), out.size());
  for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, out.size() - begin);
    const std::span<T> block = out.subspan(begin, count);
    add_rounded<T>(x.subspan(begin, count), bias.subspan(begin, count), block);
    look_up<T>(results_.data(), block, block);
  }
}

template <Half T>
void UnaryMap<T>::apply_to_sums(T x, std::span<const T> bias, std::span<T> out) const {
  require_length(bias.size(), out.size());
  for (std::size_t begin = 0; begin < out.size(); begin += kBlock) {
    const std::size_t count = std::min(kBlock, out.size() - begin);
    const std::span<T> block = out.subspan(begin, count);
    add_rounded<T>(x, bias.subspan(begin, count), block);
    look_up<T>(results_.data(), block, block);
  }
}

template class UnaryMap<Bf16>;
template class UnaryMap<Fp16>;

}  // namespace bitproof::reference
