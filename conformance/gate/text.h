// How numbers are written for people, the same in all outputs.
#pragma once

#include <string>

#include "conformance/report/record.h"

namespace bitproof::conformance {

// "4294967296/4294967296 pairs", "1000/1000 elements (sampled)"
std::string coverage_of(const Record& record);

// "bit_exact"; "bit_exact (emulated)" of what was not executed.
std::string verdict_of(const Record& record);

// "14.2 s, 302 M/s": how long, and how many inputs a second.
std::string timing_of(const Record& record);

// "3 value, 1 zero_sign"
std::string kinds_of(const KindCounts& kinds);

// "-1.38e-09", "nan"
std::string value_of(double value);

}  // namespace bitproof::conformance
