// Two results of the same blocks of the same record: do they agree, and what do they say together?
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/gate/finding.h"
#include "conformance/report/record.h"

namespace bitproof::conformance {

// What is remembered of a result after it was added up, so that a second one of the same blocks can be compared
// with it.
struct PartialResult {
  std::vector<BlockRange> blocks;
  std::uint64_t digest = 0, expected_digest = 0;
  KindCounts kinds;
  std::string report;  // that it came from
};

PartialResult partial_result(const Record& record, const std::string& report);

// What the two disagree about: other outputs are nondeterminism, other expected outputs a stale reference.
std::optional<Finding> disagreement(const Record& record, const PartialResult& a, const PartialResult& b);

// `sum` after `again`, a record of blocks that are all in it and that agrees with it, confirmed it. Coverage
// stays, machines and time are added, and of two verdicts (one runner may know an expectation that the other
// does not) the later in the order of Verdict stays.
Record confirmed(const Record& sum, const Record& again);

}  // namespace bitproof::conformance
