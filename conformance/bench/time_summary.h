// What a benchmark reports of the times that it took.
#pragma once

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace bitproof::conformance {

struct TimeSummary {
  int samples = 0;
  double median_us = 0;  // of an even number the greater of the two in the middle: a time that was taken
  double fastest_us = 0, slowest_us = 0;
};

// `microseconds` in any order. Throws std::invalid_argument for none: nothing timed is no time.
inline TimeSummary summarise(std::vector<double> microseconds) {
  if (microseconds.empty()) throw std::invalid_argument("summarise: there are no times");
  std::ranges::sort(microseconds);
  return {.samples = static_cast<int>(microseconds.size()),
          .median_us = microseconds[microseconds.size() / 2],
          .fastest_us = microseconds.front(),
          .slowest_us = microseconds.back()};
}

}  // namespace bitproof::conformance
