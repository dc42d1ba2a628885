#include "conformance/report/combine.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace bitproof::conformance {
namespace {

Error conflict(const Record& record, std::string what, std::string remedy) {
  return {ErrorKind::conflict, std::move(what), label(record), std::move(remedy)};
}

std::string joined_devices(const std::string& a, const std::string& b) {
  if (a == b) return a;
  std::set<std::string, std::less<>> names;
  for (std::string_view text : {std::string_view{a}, std::string_view{b}}) {
    while (!text.empty()) {
      const std::size_t plus = std::min(text.find('+'), text.size());
      names.emplace(text.substr(0, plus));
      text.remove_prefix(std::min(plus + 1, text.size()));
    }
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

const std::optional<Counterexample>& earlier(const std::optional<Counterexample>& a,
                                             const std::optional<Counterexample>& b) {
  if (!a) return b;
  return b && b->block < a->block ? b : a;
}

std::vector<std::uint8_t> larger(std::vector<std::uint8_t> a, const std::vector<std::uint8_t>& b) {
  a.resize(std::max(a.size(), b.size()));
  for (std::size_t i = 0; i < b.size(); ++i) a[i] = std::max(a[i], b[i]);
  return a;
}

// Ascending by name, counts added, the example of the lower block kept.
std::vector<Cause> united(std::vector<Cause> causes, const std::vector<Cause>& others) {
  for (const Cause& other : others) {
    const auto at = std::ranges::lower_bound(causes, other.name, {}, &Cause::name);
    if (at == causes.end() || at->name != other.name) {
      causes.insert(at, other);
      continue;
    }
    at->count += other.count;
    if (other.first.block < at->first.block) at->first = other.first;
  }
  return causes;
}

// Ascending by description; shapes ascending, so that no order of addition shows.
std::vector<LibraryAlgorithm> united(std::vector<LibraryAlgorithm> algorithms,
                                     const std::vector<LibraryAlgorithm>& others) {
  for (const LibraryAlgorithm& other : others) {
    const auto at = std::ranges::lower_bound(algorithms, other.description, {}, &LibraryAlgorithm::description);
    if (at == algorithms.end() || at->description != other.description) {
      algorithms.insert(at, other);
      continue;
    }
    at->shapes.insert(at->shapes.end(), other.shapes.begin(), other.shapes.end());
    std::ranges::sort(at->shapes);
  }
  return algorithms;
}

// Additions of whole microseconds are exact in a double up to 285 years.
double sum_of_seconds(double a, double b) { return (std::round(a * 1e6) + std::round(b * 1e6)) / 1e6; }

// N of "ulp<=N"; 0 for "bitwise".
std::optional<std::uint64_t> tolerated_ulps(std::string_view equality) {
  if (equality == "bitwise") return 0;
  constexpr std::string_view kPrefix = "ulp<=";
  if (!equality.starts_with(kPrefix)) return std::nullopt;
  equality.remove_prefix(kPrefix.size());
  std::uint64_t limit = 0;
  const auto [end, error] = std::from_chars(equality.data(), equality.data() + equality.size(), limit);
  if (error != std::errc{} || end != equality.data() + equality.size()) return std::nullopt;
  return limit;
}

bool inside_contract(const Record& record, std::uint64_t limit) {
  return limit > 0 && record.kinds.unwritten == 0 && record.kinds.out_of_bounds == 0 && record.max_ulp <= limit;
}

// The one of two records whose verdict has priority in their combination, if any has.
const Record* overriding(const Record& a, const Record& b) {
  for (const Verdict verdict : {Verdict::error, Verdict::refused}) {
    const bool of_a = a.verdict == verdict, of_b = b.verdict == verdict;
    if (of_a && of_b) return a.reason <= b.reason ? &a : &b;
    if (of_a) return &a;
    if (of_b) return &b;
  }
  return nullptr;
}

}  // namespace

std::string label(const Record& record) {
  return fmt::format("{} {} {} {} {}", record.op, record.dtype, record.implementation, record.domain,
                     record.architecture);
}

std::vector<BlockRange> unite(std::span<const BlockRange> a, std::span<const BlockRange> b) {
  std::vector<BlockRange> sorted(a.begin(), a.end());
  sorted.insert(sorted.end(), b.begin(), b.end());
  std::ranges::sort(sorted, {}, &BlockRange::begin);
  std::vector<BlockRange> united;
  for (const BlockRange& range : sorted) {
    if (range.begin >= range.end) continue;
    if (!united.empty() && range.begin <= united.back().end) {
      united.back().end = std::max(united.back().end, range.end);
    } else {
      united.push_back(range);
    }
  }
  return united;
}

bool overlap(std::span<const BlockRange> a, std::span<const BlockRange> b) {
  while (!a.empty() && !b.empty()) {
    if (a.front().begin < b.front().end && b.front().begin < a.front().end) return true;
    if (a.front().end <= b.front().end) {
      a = a.subspan(1);
    } else {
      b = b.subspan(1);
    }
  }
  return false;
}

std::uint64_t count_blocks(std::span<const BlockRange> blocks) {
  std::uint64_t count = 0;
  for (const BlockRange& range : blocks) count += range.end - range.begin;
  return count;
}

std::vector<BlockRange> remaining(const BlockRange& share, std::span<const BlockRange> done) {
  std::vector<BlockRange> left;
  std::uint64_t next = share.begin;
  for (const BlockRange& range : done) {
    if (range.end <= next) continue;
    if (range.begin >= share.end) break;
    if (range.begin > next) left.push_back({next, range.begin});
    next = range.end;
  }
  if (next < share.end) left.push_back({next, share.end});
  return left;
}

Result<Record> combine(const Record& a, const Record& b) {
  if (!same_identity(a, b))
    return conflict(a, fmt::format("cannot be combined with another record ({})", label(b)),
                    "combine blocks of one operator, implementation, domain, machine code and seed only");
  if (a.total != b.total || a.unit != b.unit || a.blocks_total != b.blocks_total || a.sampled != b.sampled)
    return conflict(a,
                    fmt::format("{} {} in {} blocks against {} {} in {} blocks", a.total, a.unit,
                                a.blocks_total, b.total, b.unit, b.blocks_total),
                    "both must come from the same domain; run with the same tool");
  if (overlap(a.blocks, b.blocks))
    return conflict(a, "some blocks are in both parts", "combine disjoint parts, each once");

  Record sum = a;
  sum.device = joined_devices(a.device, b.device);
  sum.tested += b.tested;
  sum.blocks = unite(a.blocks, b.blocks);
  sum.mismatches += b.mismatches;
  sum.kinds += b.kinds;
  sum.max_ulp = std::max(a.max_ulp, b.max_ulp);
  for (std::size_t bucket = 0; bucket < sum.ulp_histogram.size(); ++bucket)
    sum.ulp_histogram[bucket] += b.ulp_histogram[bucket];
  sum.first = earlier(a.first, b.first);
  sum.digest += b.digest;
  sum.expected_digest += b.expected_digest;
  sum.causes = united(std::move(sum.causes), b.causes);
  sum.algorithms = united(std::move(sum.algorithms), b.algorithms);
  sum.errors = larger(std::move(sum.errors), b.errors);
  sum.seconds = sum_of_seconds(a.seconds, b.seconds);
  sum.sources = unite(a.sources, b.sources);

  if (const Record* record = overriding(a, b)) {
    sum.verdict = record->verdict;
    sum.reason = record->reason;
    return sum;
  }
  if (sum.tested == 0 && sum.mismatches == 0) {
    // Nothing ran on either side, for the same one of two reasons whatever the order.
    sum.verdict = Verdict::not_run;
    sum.reason = a.reason.empty() || b.reason.empty() ? a.reason + b.reason : std::min(a.reason, b.reason);
    return sum;
  }
  sum.verdict = Verdict::not_run;
  return decided(std::move(sum), {0, sum.blocks_total});
}

Decision decide_verdict(const Record& record, const BlockRange& share) {
  if (record.verdict == Verdict::error || record.verdict == Verdict::refused)
    return {record.verdict, record.reason};

  const std::optional<std::uint64_t> limit = tolerated_ulps(record.equality);
  if (!limit)
    return {Verdict::error,
            fmt::format("equality \"{}\" is neither \"bitwise\" nor \"ulp<=N\"", record.equality)};
  const bool within = inside_contract(record, *limit);
  if (record.mismatches > 0 && !within) return {Verdict::mismatch, ""};

  if (record.tested == 0) {
    if (!record.reason.empty()) return {Verdict::not_run, record.reason};
    if (share.begin >= share.end) return {Verdict::not_run, "this shard has no block of the domain"};
    return {Verdict::not_run, "nothing was tested"};
  }
  const std::uint64_t left = count_blocks(remaining(share, record.blocks));
  if (left > 0) {
    const std::uint64_t asked = share.end - share.begin;
    return {Verdict::not_run, fmt::format("the run ended after {} of {} blocks", asked - left, asked)};
  }
  const bool whole = share.begin == 0 && share.end == record.blocks_total;
  if (whole && record.tested != record.total)
    return {Verdict::error, fmt::format("all {} blocks were tested, but {} of {} {}", record.blocks_total,
                                        record.tested, record.total, record.unit)};
  if (record.mismatches == 0 && record.digest != record.expected_digest)
    return {Verdict::error,
            "the digests differ, but no element does any more, as when a kernel ignores its stream"};
  return {record.mismatches > 0 ? Verdict::within_contract : Verdict::bit_exact, ""};
}

Record decided(Record record, const BlockRange& share) {
  Decision decision = decide_verdict(record, share);
  record.verdict = decision.verdict;
  record.reason = std::move(decision.reason);
  return record;
}

bool is_finished(const Record& record, const BlockRange& share) {
  switch (record.verdict) {
    case Verdict::bit_exact:
    case Verdict::within_contract:
    case Verdict::known_mismatch:
    case Verdict::mismatch:
      return record.tested > 0 && remaining(share, record.blocks).empty();
    case Verdict::refused:
    case Verdict::not_run:
    case Verdict::error:
      return false;
  }
  return false;
}

}  // namespace bitproof::conformance
