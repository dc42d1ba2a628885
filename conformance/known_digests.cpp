#include "conformance/known_digests.h"

namespace bitproof::conformance {

KnownDigests& KnownDigests::shared() {
  static KnownDigests digests;
  return digests;
}

std::optional<std::uint64_t> KnownDigests::find(const BlockOfDomain& block) const {
  const std::lock_guard lock(mutex_);
  const auto found = digests_.find(block);
  if (found == digests_.end()) return std::nullopt;
  return found->second;
}

void KnownDigests::add(const BlockOfDomain& block, std::uint64_t digest) {
  const std::lock_guard lock(mutex_);
  digests_.emplace(block, digest);
}

void KnownDigests::learn(const Record& r) {
  const bool agreed = r.digest == r.expected_digest && r.mismatches == 0;
  const bool has_outputs = r.digest != 0;  // a digest of outputs is 0 with the chance of 2^-64
  if (!agreed || !has_outputs || r.blocks.size() != 1) return;
  add(BlockOfDomain::of(r, r.blocks.front().begin), r.digest);
}

}  // namespace bitproof::conformance
