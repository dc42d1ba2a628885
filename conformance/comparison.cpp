#include "conformance/comparison.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace bitproof::conformance {

std::string_view name(Difference difference) {
  switch (difference) {
    case Difference::none:
      return "none";
    case Difference::value:
      return "value";
    case Difference::zero_sign:
      return "zero_sign";
    case Difference::nan_bits:
      return "nan_bits";
    case Difference::unwritten:
      return "unwritten";
  }
  return "";
}

std::size_t histogram_bucket(std::uint64_t ulp) {
  return std::min<std::size_t>(std::bit_width(ulp), std::tuple_size_v<UlpHistogram> - 1);
}

void Tally::count(Difference difference, std::uint64_t ulp, std::uint64_t index) {
  switch (difference) {
    case Difference::none:
      return;
    case Difference::value:
      ++kinds.value;
      break;
    case Difference::zero_sign:
      ++kinds.zero_sign;
      break;
    case Difference::nan_bits:
      ++kinds.nan_bits;
      break;
    case Difference::unwritten:
      ++kinds.unwritten;
      break;
  }
  max_ulp = std::max(max_ulp, ulp);
  ++histogram[histogram_bucket(ulp)];
  if (!first || index < *first) first = index;
}

Tally& Tally::operator+=(const Tally& other) {
  kinds += other.kinds;
  max_ulp = std::max(max_ulp, other.max_ulp);
  for (std::size_t bucket = 0; bucket < histogram.size(); ++bucket)
    histogram[bucket] += other.histogram[bucket];
  if (other.first && (!first || *other.first < *first)) first = other.first;
  return *this;
}

template <reference::Half T>
void compare(std::span<const T> expected, std::span<const T> got, std::uint64_t first_index, Tally& tally) {
  // The common case, whole runs of equal bits, costs a memcmp, which may not be asked about nothing.
  if (expected.empty() || std::memcmp(expected.data(), got.data(), expected.size_bytes()) == 0) return;
  for (std::size_t i = 0; i < expected.size(); ++i)
    if (const Difference found = difference(expected[i], got[i]); found != Difference::none)
      tally.count(found, found == Difference::unwritten ? 0 : distance(expected[i], got[i]), first_index + i);
}

template void compare(std::span<const reference::Bf16>, std::span<const reference::Bf16>, std::uint64_t,
                      Tally&);
template void compare(std::span<const reference::Fp16>, std::span<const reference::Fp16>, std::uint64_t,
                      Tally&);

}  // namespace bitproof::conformance
