// The digest of an array of 16-bit outputs (conformance/digest.h), vectorised for sweeps.
#pragma once

#include <cstdint>
#include <span>

namespace bitproof::conformance {

// The sum modulo 2^64 of digest_term(seed, first_index + i, outputs[i]), on the calling thread.
std::uint64_t digest(std::span<const std::uint16_t> outputs, std::uint64_t first_index, std::uint64_t seed);

}  // namespace bitproof::conformance
