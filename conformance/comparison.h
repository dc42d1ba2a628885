// The one comparison: two 16-bit results are equal if their bits are. Everything else here counts and describes
// differences.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>

#include "conformance/poison.h"
#include "conformance/report/record.h"
#include "reference/half.h"

namespace bitproof::conformance {

// The bits of an array of half-precision numbers.
template <reference::Half T>
std::span<const std::uint16_t> bits_of(std::span<const T> numbers) {
  static_assert(sizeof(T) == sizeof(std::uint16_t));
  return {reinterpret_cast<const std::uint16_t*>(numbers.data()), numbers.size()};
}

template <reference::Half T>
std::span<const T> numbers_of(std::span<const std::uint16_t> bits) {
  static_assert(sizeof(T) == sizeof(std::uint16_t));
  return {reinterpret_cast<const T*>(bits.data()), bits.size()};
}

enum class Difference { none, value, zero_sign, nan_bits, unwritten };

std::string_view name(Difference difference);

template <reference::Half T>
constexpr Difference difference(T expected, T got) {
  if (expected.bits == got.bits) return Difference::none;
  if (got.bits == kPoison) return Difference::unwritten;
  if (reference::is_nan(expected) && reference::is_nan(got)) return Difference::nan_bits;
  if (reference::magnitude_bits(expected) == 0 && reference::magnitude_bits(got) == 0)
    return Difference::zero_sign;
  return Difference::value;
}

// ULP distance of a difference: 0 between zeros or between NaNs, and the largest number where only one is a
// NaN, which no "ulp<=N" admits.
inline constexpr std::uint64_t kNoDistance = std::numeric_limits<std::uint32_t>::max();

template <reference::Half T>
constexpr std::uint64_t distance(T expected, T got) {
  const bool expected_nan = reference::is_nan(expected), got_nan = reference::is_nan(got);
  if (expected_nan && got_nan) return 0;
  if (expected_nan || got_nan) return kNoDistance;
  return reference::ulp_distance(expected, got);
}

// Differences of a set of elements.
struct Tally {
  KindCounts kinds;
  std::uint64_t max_ulp = 0;
  UlpHistogram histogram{};
  std::optional<std::uint64_t> first;  // index of the first difference

  void count(Difference difference, std::uint64_t ulp, std::uint64_t index);
  Tally& operator+=(const Tally& other);
};

// Adds the differences of two spans of one length to `tally`; element i has index `first_index` + i.
template <reference::Half T>
void compare(std::span<const T> expected, std::span<const T> got, std::uint64_t first_index, Tally& tally);

// The bucket of UlpHistogram that a distance falls into.
std::size_t histogram_bucket(std::uint64_t ulp);

}  // namespace bitproof::conformance
