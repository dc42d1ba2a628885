// What the probe measures. Every experiment prints what it found and returns whether all of it was predicted.
#pragma once

#include <filesystem>
#include <optional>

namespace bitproof::probe {

// Non-finite accumulators, and many finite ones, through the epilogues with FP32 and 16-bit outputs.
bool run_accumulators();

// All 65,536 values as accumulators, against the predictions and the recorded tables in `oracles`.
bool run_one_hot(const std::filesystem::path& oracles);

// Cases that went wrong in the field.
bool run_field_cases();

// Random aligned shapes, and the library's own choice of algorithm on the same ones.
bool run_random_shapes(int shapes_per_dtype);

// The production shapes. Rows are predicted in an order that covers the matrix evenly until `seconds_per_shape`
// are over, and at least 4,096 of them (or all).
bool run_production_shapes(double seconds_per_shape);

// Medians of both paths at the production shapes in one process; written as a dispatch table and read back.
bool run_timing(const std::optional<std::filesystem::path>& dispatch_file);

}  // namespace bitproof::probe
