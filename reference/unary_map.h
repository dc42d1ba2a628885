// All 65,536 results of a unary operator on a 16-bit type: computed once by the scalar form, looked up from
// then on. A biased operator is a rounded add and a look-up.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "reference/half.h"

namespace bitproof::reference {

template <Half T>
class UnaryMap {
 public:
  static constexpr std::uint32_t kSize = 1u << 16;

  // `function` is a T(T). It is called once per value, on this thread, in ascending order of bits.
  template <class Function>
  explicit UnaryMap(Function&& function) : results_(kSize) {
    for (std::uint32_t bits = 0; bits < kSize; ++bits) {
      results_[bits] = function(T{static_cast<std::uint16_t>(bits)});
    }
  }

  T operator()(T x) const { return results_[x.bits]; }

  // Entry i is the result for the input whose bits are i.
  std::span<const T> results() const { return results_; }

  // Array forms on the calling thread, for callers that schedule chunks themselves. All spans have one length;
  // `out` may be an input itself. They are fastest when neighbouring inputs have neighbouring bits, as in a
  // sweep over a type: then the look-ups stay in the first-level cache. The sums are FP32 arithmetic, so the
  // caller's thread needs the right environment (reference/environment.h), which is not checked here.
  //
  // Throw std::invalid_argument for lengths that differ.

  // out[i] = f(x[i])
  void apply(std::span<const T> x, std::span<T> out) const;
  // out[i] = f(add_rounded(x[i], bias[i]))
  void apply_to_sums(std::span<const T> x, std::span<const T> bias, std::span<T> out) const;
  // out[i] = f(add_rounded(x, bias[i])): one row of a sweep over pairs
  void apply_to_sums(T x, std::span<const T> bias, std::span<T> out) const;

 private:
  std::vector<T> results_;
};

}  // namespace bitproof::reference
