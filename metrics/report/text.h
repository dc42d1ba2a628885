// Numbers and results as people read them.
#pragma once

#include <string>
#include <vector>

#include "metrics/compare/outcome.h"

namespace bitproof::metrics {

// "41.234567", "1 - 2.0e-12", "infinite", "n/a". A similarity reads "1" only when nothing differs.
std::string show(const Score& score);
std::string show_with_unit(const Score& score, const std::string& unit);

std::string show(const PixelPosition& position);   // "frame 40, plane y, x 12, y 30: 128 in A, 129 in B"
std::string show_level(const LevelResult& level);  // "identical", "different", "not asked for"
std::string show_error(const PairResult& pair);    // the squared error, exact where it is

// The verdict as a sentence.
std::string headline(const Outcome& outcome);

struct LevelRow {
  std::string name, result;
  std::string a, b;  // digests, may be empty
};
std::vector<LevelRow> level_rows(const Outcome& outcome);

}  // namespace bitproof::metrics
