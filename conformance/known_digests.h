// Digests of expected outputs that are known already, so that the implementations of an operator share them:
// those that this process computed, and those that it inherited from the one it was forked from.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "conformance/report/record.h"

namespace bitproof::conformance {

// A block of a domain, whoever computes it.
struct BlockOfDomain {
  std::string op, dtype, profile, domain;
  std::uint64_t total = 0;  // of the domain: some have another size on the CPU
  std::uint64_t seed = 0, block = 0;
  auto operator<=>(const BlockOfDomain&) const = default;

  static BlockOfDomain of(const Record& check, std::uint64_t block) {
    return {check.op, check.dtype, check.profile, check.domain, check.total, check.seed, block};
  }
};

// Thread-safe.
class KnownDigests {
 public:
  // Of this process.
  static KnownDigests& shared();

  std::optional<std::uint64_t> find(const BlockOfDomain& block) const;
  void add(const BlockOfDomain& block, std::uint64_t digest);

  // Learns from the record of a block that another process computed, if its outputs had the digest that its
  // reference expected: two independent computations agreed, so neither was spoiled by whatever else happened
  // in that process. Of a refused block, which has no outputs, there is nothing to learn.
  void learn(const Record& of_block);

 private:
  mutable std::mutex mutex_;
  std::map<BlockOfDomain, std::uint64_t> digests_;
};

}  // namespace bitproof::conformance
