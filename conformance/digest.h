// The 64-bit position-dependent digest of a set of results: the sum modulo 2^64 over its elements of
// mix64(mix64(seed ^ index) ^ output bits). Sums commute, so blocks, shards and workers add up in any order.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define BITPROOF_HOST_DEVICE __host__ __device__
#else
#define BITPROOF_HOST_DEVICE
#endif

namespace bitproof::conformance {

// The SplitMix64 finaliser (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", 2014), a
// bijection of the 64-bit integers.
BITPROOF_HOST_DEVICE constexpr std::uint64_t mix64(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

// The term of one element. `index` is its position in the whole domain, not in the block.
BITPROOF_HOST_DEVICE constexpr std::uint64_t digest_term(std::uint64_t seed, std::uint64_t index,
                                                         std::uint32_t bits) {
  return mix64(mix64(seed ^ index) ^ bits);
}

}  // namespace bitproof::conformance
