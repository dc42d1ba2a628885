// What the harness itself runs on a device around a launch under test: poison, inputs, digests, and the search
// for elements that nobody may have written. All asynchronous on `stream`.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

#include "conformance/elementwise/case.h"
#include "conformance/elementwise/placement.h"

namespace bitproof::conformance {

void poison_arena(std::uint16_t* arena, std::uint64_t elements, cudaStream_t stream);

// Poisons the output's elements only, not where it is the input.
void poison_output(std::uint16_t* arena, const Placement& placement, cudaStream_t stream);

void fill_input(std::uint16_t* arena, const Placement& placement, const InputSource& source,
                cudaStream_t stream);
void fill_bias(std::uint16_t* arena, const Placement& placement, const InputSource& source,
               cudaStream_t stream);

// As fill_bias, by a kernel that releases its dependents at once (programmatic dependent launch) and writes
// 20 milliseconds later.
void fill_bias_late(std::uint16_t* arena, const Placement& placement, const InputSource& source,
                    cudaStream_t stream);

// Keeps the stream busy for about `milliseconds`.
void delay(unsigned milliseconds, cudaStream_t stream);

// Adds the digest of the output to *digest, a device address. Element (row, column) has index
// first_index + row * width + column.
void add_output_digest(const std::uint16_t* arena, const Placement& placement, std::uint64_t first_index,
                       std::uint64_t seed, std::uint64_t* digest, cudaStream_t stream);

// Counters on a device, zero at first: elements found, and how far before the arena's end the first of them is.
struct OverwrittenOnDevice {
  std::uint64_t *count, *first_from_end;
};

// Finds the elements of the arena that are not what they were before the launch (bits_before_launch). The
// output's elements count only if !output_may_change.
void add_overwritten(const std::uint16_t* arena, const Placement& placement, const InputSource& source,
                     bool output_may_change, OverwrittenOnDevice result, cudaStream_t stream);

}  // namespace bitproof::conformance
