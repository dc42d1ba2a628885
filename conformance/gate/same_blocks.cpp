#include "conformance/gate/same_blocks.h"

#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

auto place_of(const Counterexample& c) { return std::tie(c.block, c.row, c.column, c.reproduce); }

}  // namespace

PartialResult partial_result(const Record& record, const std::string& report) {
  return {record.blocks, record.digest, record.expected_digest, record.kinds, report};
}

std::optional<Finding> disagreement(const Record& record, const PartialResult& a, const PartialResult& b) {
  const std::string what = label(record);
  const std::string reports =
      fmt::format("{} and {}", std::min(a.report, b.report), std::max(a.report, b.report));
  if (a.expected_digest != b.expected_digest)
    return Finding{
        FindingKind::stale_reference, what,
        fmt::format("{}: {} tested the same blocks against other expected outputs; run again the one with the "
                    "older reference",
                    what, reports)};
  if (a.digest != b.digest || a.kinds != b.kinds)
    return Finding{
        FindingKind::nondeterminism, what,
        fmt::format("{}: nondeterminism, {} ran the same code on the same inputs and got other bits; run both "
                    "again, and suspect a race or the hardware of one",
                    what, reports)};
  return std::nullopt;
}

Record confirmed(const Record& sum, const Record& again) {
  // combine() adds up disjoint blocks, so what `again` says about its blocks is taken out of it first.
  Record neutral = again;
  neutral.blocks.clear();
  neutral.tested = neutral.mismatches = neutral.digest = neutral.expected_digest = 0;
  neutral.kinds = {};
  neutral.ulp_histogram = {};
  neutral.first.reset();
  Result<Record> both = combine(sum, neutral);
  if (!both) return sum;  // not reached: the caller compared identities and totals

  const bool worse = again.verdict > sum.verdict;
  both->verdict = worse ? again.verdict : sum.verdict;
  both->reason = worse ? again.reason : sum.reason;
  const bool earlier = sum.first && again.first && place_of(*again.first) < place_of(*sum.first);
  both->first = earlier ? again.first : sum.first;
  return *std::move(both);
}

}  // namespace bitproof::conformance
