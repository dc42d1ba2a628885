// The operators over whole arrays, for sweeps: threaded (TBB), vectorised (Highway), and equal to the scalar
// form bit for bit, whatever the chunking and the number of threads.
//
// A unary operator on a 16-bit type has 65,536 results. They are computed once, by the scalar form, into a
// UnaryMap; from then on a result is a table look-up, and a biased operator is a rounded add and a look-up.
//
// Functions throw EnvironmentError (reference/environment.h) when a thread they run on has the wrong
// floating-point environment, and std::invalid_argument when lengths do not match. Outputs may be the inputs;
// other overlap is not supported.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "reference/half.h"
#include "reference/operators.h"
#include "reference/profile.h"

namespace bitproof::reference {

// round_to<T>(widen(a) + widen(b)): the rounded add by way of FP32.
template <Half T>
T add_rounded(T a, T b) {
  return round_to<T>(widen(a) + widen(b));
}

// The same by integer arithmetic alone: align, add exactly, round once. Independent of add_rounded, whose two
// roundings (to FP32, then to T) it shows to be harmless.
template <Half T>
T add_rounded_integer(T a, T b);

// All results of a unary operator on T.
template <Half T>
class UnaryMap {
 public:
  // `function` is a T(T); it is called once per value, on this thread.
  template <class Function>
  explicit UnaryMap(Function&& function) : UnaryMap(Uninitialised{}) {
    for (std::uint32_t bits = 0; bits < kSize; ++bits) {
      results_[bits] = function(T{static_cast<std::uint16_t>(bits)});
    }
  }

  T operator()(T x) const { return results_[x.bits]; }

  std::span<const T> results() const { return std::span(results_).first(kSize); }

  // On the calling thread, for callers that schedule chunks themselves. Fastest when a chunk of a sum's
  // operands varies slowly, as it does when a sweep runs over consecutive bit patterns: then the look-ups stay
  // in cache.
  void apply(std::span<const T> x, std::span<T> out) const;  // out[i] = f(x[i])
  void apply_to_sums(std::span<const T> x, std::span<const T> bias,
                     std::span<T> out) const;                                // f(x[i] + bias[i])
  void apply_to_sums(T x, std::span<const T> bias, std::span<T> out) const;  // f(x + bias[i])

 private:
  static constexpr std::uint32_t kSize = 1u << 16;
  struct Uninitialised {};
  explicit UnaryMap(Uninitialised);

  std::vector<T> results_;
};

template <Half T>
UnaryMap<T> gelu_tanh_map(const Profile& profile);

// out[i] = gelu_tanh(x[i]).
template <Half T>
void gelu_tanh(std::span<const T> x, std::span<T> out, const Profile& profile);

// x and out are rows of bias.size() elements each, one after the other: out[r][c] = bias_gelu_tanh(x[r][c],
// bias[c]). With bias.size() == x.size() this is the elementwise form.
template <Half T>
void bias_gelu_tanh(std::span<const T> x, std::span<const T> bias, std::span<T> out, const Profile& profile);

}  // namespace bitproof::reference
