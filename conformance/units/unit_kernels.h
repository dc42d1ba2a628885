// The primitives on a device. All asynchronous on `stream`.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "conformance/units/unit_functions.h"

namespace bitproof::conformance {

// Adds to *digest, a device address, the digest of the device's results for inputs [first, first + count).
void add_unit_digest(Unit unit, std::uint64_t first, std::uint64_t count, std::uint64_t seed,
                     std::uint64_t* digest, cudaStream_t stream);

// results[i] is the device's result for input first + i.
void unit_results(Unit unit, std::uint64_t first, std::uint64_t count, std::uint32_t* results,
                  cudaStream_t stream);

}  // namespace bitproof::conformance
