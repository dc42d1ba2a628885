// A sum over the threads of a grid, in device code.
#pragma once

#include <cstdint>

namespace bitproof::conformance {

// Adds the value of every thread to *total: over the warp first, then once per warp in memory. All threads of a
// warp must call it. Integer sums commute, so the result does not depend on the order.
__device__ __forceinline__ void add_to(std::uint64_t* total, std::uint64_t value) {
  for (int distance = 16; distance > 0; distance /= 2) value += __shfl_down_sync(0xFFFFFFFFu, value, distance);
  if (threadIdx.x % 32 == 0)
    atomicAdd(reinterpret_cast<unsigned long long*>(total), static_cast<unsigned long long>(value));
}

}  // namespace bitproof::conformance
