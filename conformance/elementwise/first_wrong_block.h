// Which of a check's wrong blocks comes first: a report keeps the counterexample of that one only, so that only
// it is worth explaining.
#pragma once

#include <atomic>
#include <cstdint>

namespace bitproof::conformance {

// Of a case that belongs to no domain.
inline constexpr std::uint64_t kNoBlock = ~std::uint64_t{0};

class FirstWrongBlock {
 public:
  // Whether this wrong block is one of the domain and no earlier one has been wrong yet. Thread-safe.
  bool is(std::uint64_t block) {
    if (block == kNoBlock) return false;
    std::uint64_t first = first_.load();
    while (block < first && !first_.compare_exchange_weak(first, block)) continue;
    return block <= first;
  }

 private:
  std::atomic<std::uint64_t> first_{kNoBlock};
};

}  // namespace bitproof::conformance
