// Which of a check's wrong blocks comes first: a report keeps the counterexample of that one only, so that only
// it is worth explaining.
#pragma once

#include <atomic>
#include <cstdint>

namespace bitproof::conformance {

class FirstWrongBlock {
 public:
  // Whether no earlier block has been wrong yet. Thread-safe.
  bool is(std::uint64_t block) {
    std::uint64_t first = first_.load();
    while (block < first && !first_.compare_exchange_weak(first, block)) continue;
    return block <= first;
  }

 private:
  std::atomic<std::uint64_t> first_{~std::uint64_t{0}};
};

}  // namespace bitproof::conformance
