// Factors that stress a tensor-core step, drawn from a seed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <ostream>
#include <random>
#include <string_view>
#include <vector>

#include "reference/half.h"

namespace bitproof::reference::test {

enum class Distribution {
  any_bits,             // all 65,536 values alike: NaN and infinity too
  near_one,             // exponents -2 to 2, either sign
  wide,                 // exponents -14 to 14: products on both sides of every cut
  cancelling,           // few magnitudes, either sign: sums that vanish or nearly do
  subnormal,            // subnormals, zeros and the least normal numbers
  huge,                 // the largest exponents: sums that overflow FP32 in bf16
  largest_significand,  // all fraction bits set, one sign: the largest sum of 16 products
  range_edge,           // steps around the exponents -133, -100 and 126, where paths and rules change
  few_zero,             // near_one with zeros of both signs
  few_non_finite,       // near_one with a rare infinity or NaN
};

inline constexpr std::array kDistributions{Distribution::any_bits,
                                           Distribution::near_one,
                                           Distribution::wide,
                                           Distribution::cancelling,
                                           Distribution::subnormal,
                                           Distribution::huge,
                                           Distribution::largest_significand,
                                           Distribution::range_edge,
                                           Distribution::few_zero,
                                           Distribution::few_non_finite};

inline std::ostream& operator<<(std::ostream& out, Distribution distribution) {
  constexpr std::array<std::string_view, kDistributions.size()> kNames{
      "any_bits",   "near_one", "wide",          "cancelling", "subnormal", "huge", "largest_significand",
      "range_edge", "few_zero", "few_non_finite"};
  return out << kNames[static_cast<std::size_t>(distribution)];
}

template <Half T>
class Sampler {
 public:
  Sampler(Distribution distribution, std::uint64_t seed) : distribution_(distribution), random_(seed) {}

  T operator()() {
    switch (distribution_) {
      case Distribution::any_bits:
        return T{static_cast<std::uint16_t>(random_())};
      case Distribution::near_one:
        return number(between(-2, 2), fraction(), sign());
      case Distribution::wide:
        return number(between(-14, 14), fraction(), sign());
      case Distribution::cancelling:
        return number(between(0, 1), between(0, 1) << (T::kFractionBits - 1), sign());
      case Distribution::subnormal:
        return T{static_cast<std::uint16_t>(between(0, 2 << T::kFractionBits) | (sign() ? 0x8000 : 0))};
      case Distribution::huge:
        return number(kLargestExponent - between(0, 3), fraction(), sign());
      case Distribution::largest_significand:
        return number(0, (1 << T::kFractionBits) - 1, false);
      case Distribution::range_edge:
        if (drawn_++ % 16 == 0) step_exponent_ = edge();
        return number(step_exponent_ - between(0, 1), fraction(), sign());
      case Distribution::few_zero:
        if (between(0, 3) == 0) return T{static_cast<std::uint16_t>(sign() ? 0x8000 : 0)};
        return number(between(-2, 2), fraction(), sign());
      case Distribution::few_non_finite:
        if (between(0, 63) != 0) return number(between(-2, 2), fraction(), sign());
        if (between(0, 3) == 0) return T{static_cast<std::uint16_t>(kCanonicalNan<T>.bits - between(0, 3))};
        return sign() ? kNegativeInfinity<T> : kPositiveInfinity<T>;
    }
    return T{};
  }

  // FP32 numbers to go with such factors: of about the size of their products, zeros, or any bits.
  float accumulator() {
    switch (between(0, 7)) {
      case 0:
        return 0.0f;
      case 1:
        return -0.0f;
      case 2:
        return float_from_bits(static_cast<std::uint32_t>(random_()));
      default: {
        const float product = widen((*this)()) * widen((*this)());
        return float_from_bits(float_bits(product) ^ static_cast<std::uint32_t>(random_() & 0x807FFFFFu));
      }
    }
  }

  std::vector<T> vector(std::size_t count) {
    std::vector<T> result(count);
    std::generate(result.begin(), result.end(), [this] { return (*this)(); });
    return result;
  }

 private:
  static constexpr int kLargestExponent = (1 << (T::kExponentBits - 1)) - 1;

  // (-1)^negative * 2^exponent * 1.fraction, the exponent clamped to T's range.
  static T number(int exponent, int fraction, bool negative) {
    const int field = std::clamp(exponent + kLargestExponent, 1, 2 * kLargestExponent);
    return T{static_cast<std::uint16_t>((negative ? 0x8000 : 0) | field << T::kFractionBits | fraction)};
  }

  int between(int low, std::size_t high) { return between(low, static_cast<int>(high)); }
  int between(int low, int high) {
    return low + static_cast<int>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }
  int fraction() { return between(0, (1 << T::kFractionBits) - 1); }
  int edge() {
    constexpr std::array kHalfOfEdge{-67, -66, -52, -51, -50, -49, 62, 63, 64};
    return kHalfOfEdge[static_cast<std::size_t>(between(0, kHalfOfEdge.size() - 1))];
  }
  bool sign() { return (random_() & 1) != 0; }

  Distribution distribution_;
  std::mt19937_64 random_;
  std::size_t drawn_ = 0;
  int step_exponent_ = 0;
};

}  // namespace bitproof::reference::test
