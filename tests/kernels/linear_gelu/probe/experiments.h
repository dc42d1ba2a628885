// What the probe measures.
#pragma once

namespace bitproof::probe {

// Non-finite accumulators, and many finite ones, through the epilogues with FP32 and 16-bit outputs. Prints
// what it found and returns whether all of it was predicted.
bool run_accumulators();

}  // namespace bitproof::probe
