// Mutants as implementations: what the checks run, on the CPU and on a GPU.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "conformance/elementwise/implementation.h"
#include "conformance/mutants/faults.h"

namespace bitproof::conformance {

// The implementation "mutant.<fault>"; `none` has none. Each call makes one of its own state: what a
// mutant caches or counts is its own.
ElementwiseImplementation host_mutant(Fault fault);
// Throws std::logic_error in a build without CUDA.
ElementwiseImplementation device_mutant(Fault fault);

// The mutants' kernel without a fault, but for one flipped bit of one element: the smallest difference there
// is.
ElementwiseImplementation host_one_bit_control();
ElementwiseImplementation device_one_bit_control();

// The first inputs of every case that a run with the default seed makes of `location`: what
// right_on_known_inputs knows. Sorted.
std::vector<std::uint64_t> known_inputs(Location location);

// The first four input elements, as one number.
std::uint64_t first_inputs(const std::uint16_t* elements);

}  // namespace bitproof::conformance
