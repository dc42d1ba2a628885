#include "conformance/gate/merge.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "conformance/report/combine.h"
#include "conformance/report/sha256.h"

namespace bitproof::conformance {
namespace {

constexpr BlockRange whole(const Record& record) { return {0, record.blocks_total}; }

// What is remembered of a part after it was added up, so that a second report of the same blocks can be
// compared.
struct Part {
  std::vector<BlockRange> blocks;
  std::uint64_t digest, expected_digest;
  KindCounts kinds;
  std::string name;  // of the report
};

Part part_of(const Record& record, const std::string& name) {
  return {record.blocks, record.digest, record.expected_digest, record.kinds, name};
}

std::string pair_of(const std::string& a, const std::string& b) {
  return a < b ? fmt::format("{} and {}", a, b) : fmt::format("{} and {}", b, a);
}

// What two results of the same blocks disagree about.
std::optional<Finding> disagreement(const Record& record, const Part& a, const Part& b) {
  const std::string what = label(record);
  if (a.expected_digest != b.expected_digest)
    return Finding{
        FindingKind::stale_reference, what,
        fmt::format("{}: {} tested the same blocks against other expected outputs; run again the one with the "
                    "older reference",
                    what, pair_of(a.name, b.name))};
  if (a.digest != b.digest || a.kinds != b.kinds)
    return Finding{
        FindingKind::nondeterminism, what,
        fmt::format("{}: nondeterminism, {} ran the same code on the same inputs and got other bits; run both "
                    "again, and suspect a race or the hardware of one",
                    what, pair_of(a.name, b.name))};
  return std::nullopt;
}

auto place_of(const Counterexample& c) { return std::tie(c.block, c.row, c.column, c.reproduce); }

// Adds a record of the same blocks that agrees: coverage stays, machines and time are added, and of two
// verdicts (one runner may know an expectation that the other does not) the later in the order of Verdict
// stays.
void confirm(Record& sum, const Record& again) {
  Record neutral = again;
  neutral.blocks.clear();
  neutral.tested = neutral.mismatches = neutral.digest = neutral.expected_digest = 0;
  neutral.kinds = {};
  neutral.ulp_histogram = {};
  neutral.first.reset();
  Result<Record> confirmed = combine(sum, neutral);
  if (!confirmed) return;  // not reached: identities and totals were found equal, and no blocks do not overlap
  const bool worse = again.verdict > sum.verdict;
  confirmed->verdict = worse ? again.verdict : sum.verdict;
  confirmed->reason = worse ? again.reason : sum.reason;
  const bool earlier = sum.first && again.first && place_of(*again.first) < place_of(*sum.first);
  confirmed->first = earlier ? again.first : sum.first;
  sum = *std::move(confirmed);
}

// All that one run says about one record.
struct Group {
  Record sum;
  std::vector<Part> parts;
  std::vector<std::uint32_t> sources;
  std::set<std::uint64_t> shards;

  std::optional<Finding> add(Record record, const std::string& name) {
    if (parts.empty()) {
      parts.push_back(part_of(record, name));
      sum = std::move(record);
      return std::nullopt;
    }
    if (overlap(sum.blocks, record.blocks) && record.total == sum.total &&
        record.blocks_total == sum.blocks_total)
      return add_again(record, name);
    Result<Record> next = combine(sum, record);
    if (!next)
      return Finding{
          FindingKind::shard_conflict, label(record),
          fmt::format("{}; {} does not belong to {}", next.error().message(), name, parts.front().name)};
    parts.push_back(part_of(record, name));
    sum = *std::move(next);
    return std::nullopt;
  }

 private:
  std::optional<Finding> add_again(const Record& record, const std::string& name) {
    const auto same = std::ranges::find(parts, record.blocks, &Part::blocks);
    if (same == parts.end())
      return Finding{
          FindingKind::shard_conflict, label(record),
          fmt::format(
              "{}: {} covers blocks that other reports of its run cover too, but not the same ones; pass "
              "each shard once, of one division into shards",
              label(record), name)};
    if (std::optional<Finding> finding = disagreement(record, *same, part_of(record, name))) return finding;
    confirm(sum, record);
    return std::nullopt;
  }
};

// The reports that share a run id.
struct Run {
  std::string tool_build, name;  // of the first report
  std::uint64_t shards = 1;
  std::set<std::uint64_t> present;
  std::map<std::string, Group> groups;  // by identity

  bool sharded() const { return shards > 1; }
};

std::vector<BlockRange> to_ranges(std::vector<std::uint32_t> numbers) {
  std::ranges::sort(numbers);
  std::vector<BlockRange> ranges;
  for (const std::uint32_t number : numbers) {
    if (!ranges.empty() && ranges.back().end > number) continue;
    if (!ranges.empty() && ranges.back().end == number) {
      ++ranges.back().end;
    } else {
      ranges.push_back({number, number + 1});
    }
  }
  return ranges;
}

auto order_of(const Source& s) {
  return std::tie(s.run_id, s.shard.index, s.environment.host, s.environment.started, s.content_sha256);
}

// The common value of a field of all sources; "various" when they differ.
std::string common(const std::vector<Source>& sources, std::string Environment::*field) {
  const std::string& first = sources.front().environment.*field;
  const bool same =
      std::ranges::all_of(sources, [&](const Source& s) { return s.environment.*field == first; });
  return same ? first : "various";
}

Environment common_environment(const std::vector<Source>& sources) {
  Environment environment;
  for (std::string Environment::*field :
       {&Environment::tool_version, &Environment::tool_build, &Environment::host, &Environment::os,
        &Environment::cpu, &Environment::toolchain})
    environment.*field = common(sources, field);
  environment.started = sources.front().environment.started;
  for (const Source& source : sources) {
    environment.started = std::min(environment.started, source.environment.started);
    for (const Device& device : source.environment.devices) {
      if (std::ranges::find(environment.devices, device) == environment.devices.end())
        environment.devices.push_back(device);
    }
  }
  return environment;
}

std::string joined_run_id(const std::vector<Source>& sources) {
  std::set<std::string> ids;
  for (const Source& source : sources) ids.insert(source.run_id);
  if (ids.size() == 1) return *ids.begin();
  return sha256_hex(fmt::format("{}", fmt::join(ids, "\n"))).substr(0, 16);
}

std::optional<MutationScore> worse(const std::optional<MutationScore>& a,
                                   const std::optional<MutationScore>& b) {
  if (!a || !b) return a ? a : b;
  const auto badness = [](const MutationScore& s) {
    return std::tuple(s.total - std::min(s.killed, s.total) + s.false_alarms, s.false_alarms, ~s.total);
  };
  return badness(*a) < badness(*b) ? b : a;
}

}  // namespace

struct Merger::State {
  std::map<std::string, Run> runs;
  std::vector<Source> sources;
  std::set<std::string> seen;  // content hashes
  std::set<std::string> profiles;
  std::set<std::uint64_t> seeds;
  std::optional<MutationScore> mutation_score;
  std::vector<Finding> findings;

  void note(FindingKind kind, const std::string& record, const std::string& message) {
    findings.push_back({kind, record, record + ": " + message});
  }

  void add(StoredReport stored) {
    if (!seen.insert(stored.content_sha256).second) return;
    Report& report = stored.report;
    const auto first_source = static_cast<std::uint32_t>(sources.size());
    add_sources(stored);
    profiles.insert(report.profile);
    seeds.insert(report.seed);
    mutation_score = worse(mutation_score, report.mutation_score);

    Run& run = runs[report.run_id];
    if (!belongs(run, stored)) return;
    run.present.insert(report.shard.index);
    for (Record& record : report.records) {
      std::vector<std::uint32_t> numbers;
      for (const BlockRange& range : record.sources)
        for (std::uint64_t i = range.begin; i < range.end; ++i)
          numbers.push_back(first_source + static_cast<std::uint32_t>(i));
      if (numbers.empty()) numbers.push_back(first_source);
      record.sources.clear();

      Group& group = run.groups[identity(record)];
      group.sources.insert(group.sources.end(), numbers.begin(), numbers.end());
      group.shards.insert(report.shard.index);
      if (std::optional<Finding> finding = group.add(std::move(record), stored.name))
        findings.push_back(*finding);
    }
  }

  void add_sources(const StoredReport& stored) {
    const Report& report = stored.report;
    if (!report.sources.empty()) {
      sources.insert(sources.end(), report.sources.begin(), report.sources.end());
      return;
    }
    std::uint64_t microseconds = 0;
    for (const Record& record : report.records)
      microseconds += static_cast<std::uint64_t>(std::max(0.0, record.seconds) * 1e6 + 0.5);
    sources.push_back({report.run_id, report.shard, report.environment, report.records.size(),
                       static_cast<double>(microseconds) / 1e6, stored.content_sha256});
  }

  bool belongs(Run& run, const StoredReport& stored) {
    const Report& report = stored.report;
    if (run.present.empty()) {
      run.tool_build = report.environment.tool_build;
      run.name = stored.name;
      run.shards = report.shard.count;
      return true;
    }
    const std::string subject = "run " + report.run_id;
    if (run.tool_build != report.environment.tool_build) {
      note(FindingKind::mixed_tool_builds, subject,
           fmt::format("{} come from other builds of the tool; run all shards with one build",
                       pair_of(run.name, stored.name)));
      return false;
    }
    if (run.shards != report.shard.count) {
      note(FindingKind::shard_conflict, subject,
           fmt::format("{} divide it into other numbers of shards; pass the shards of one division",
                       pair_of(run.name, stored.name)));
      return false;
    }
    return true;
  }

  void check_shards(const std::string& run_id, const Run& run) {
    std::vector<std::string> missing;
    for (std::uint64_t i = 0; i < run.shards && missing.size() < 20; ++i)
      if (!run.present.contains(i)) missing.push_back(name(Shard{i, run.shards}));
    if (!missing.empty())
      note(FindingKind::shard_missing, "run " + run_id,
           fmt::format("{} of {} shards are missing: {}{}; pass their reports, or run them with --shard",
                       run.shards - run.present.size(), run.shards, fmt::join(missing, ", "),
                       run.shards - run.present.size() > missing.size() ? ", ..." : ""));
    for (const auto& [key, group] : run.groups) {
      // Without a block there is no evidence that could be incomplete.
      if (group.sum.blocks.empty()) continue;
      for (const std::uint64_t shard : run.present) {
        if (group.shards.contains(shard)) continue;
        note(FindingKind::shard_missing, label(group.sum),
             fmt::format(
                 "shard {} of run {} has no such record; run that shard again on a machine like the others",
                 name(Shard{shard, run.shards}), run_id));
        break;
      }
    }
  }

  // Puts the sources in their order and returns the new number of each.
  std::vector<std::uint32_t> sort_sources() {
    std::vector<std::uint32_t> order(sources.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::sort(
        order, [&](std::uint32_t a, std::uint32_t b) { return order_of(sources[a]) < order_of(sources[b]); });
    std::vector<std::uint32_t> number(sources.size());
    std::vector<Source> sorted;
    for (const std::uint32_t old : order) {
      // The same report may have come directly and inside a merged one.
      if (sorted.empty() || sorted.back() != sources[old]) sorted.push_back(std::move(sources[old]));
      number[old] = static_cast<std::uint32_t>(sorted.size() - 1);
    }
    sources = std::move(sorted);
    return number;
  }

  // Adds what another run says about the same record: equal blocks confirm or contradict, others stand beside.
  void add_across_runs(std::vector<std::pair<Record, Part>>& records, Record record, const std::string& name) {
    for (auto& [earlier, part] : records) {
      const bool comparable = earlier.blocks == record.blocks && earlier.total == record.total &&
                              earlier.blocks_total == record.blocks_total;
      if (!comparable) continue;
      if (std::optional<Finding> finding = disagreement(record, part, part_of(record, name))) {
        findings.push_back(*finding);
        continue;
      }
      confirm(earlier, record);
      earlier.sources = unite(earlier.sources, record.sources);
      return;
    }
    Part part = part_of(record, name);
    records.emplace_back(std::move(record), std::move(part));
  }

  Merged finish() {
    Merged merged;
    Report& report = merged.report;
    const std::vector<std::uint32_t> number = sort_sources();

    std::map<std::string, std::vector<std::pair<Record, Part>>> by_identity;
    for (auto& [run_id, run] : runs) {
      check_shards(run_id, run);
      for (auto& [key, group] : run.groups) {
        for (std::uint32_t& source : group.sources) source = number[source];
        Record record = std::move(group.sum);
        record.sources = to_ranges(std::move(group.sources));
        // A shard's verdict speaks for the shard; here it is about the domain.
        if (run.sharded() && record.tested > 0) record = decided(std::move(record), whole(record));
        add_across_runs(by_identity[key], std::move(record), group.parts.front().name);
      }
      run.groups.clear();
    }
    for (auto& [key, records] : by_identity)
      for (auto& [record, part] : records) report.records.push_back(std::move(record));
    std::ranges::stable_sort(report.records, {}, [](const Record& r) { return label(r); });

    std::ranges::sort(findings, {}, [](const Finding& f) { return std::tie(f.record, f.kind, f.message); });
    merged.findings = std::move(findings);
    if (sources.empty()) return merged;
    report.environment = common_environment(sources);
    report.run_id = joined_run_id(sources);
    report.profile = fmt::format("{}", fmt::join(profiles, "+"));
    report.seed = seeds.size() == 1 ? *seeds.begin() : 0;
    report.mutation_score = mutation_score;
    report.sources = std::move(sources);
    return merged;
  }
};

Merger::Merger() : state_(std::make_unique<State>()) {}
Merger::Merger(Merger&&) noexcept = default;
Merger& Merger::operator=(Merger&&) noexcept = default;
Merger::~Merger() = default;

void Merger::add(StoredReport report) { state_->add(std::move(report)); }

Merged Merger::finish() && { return state_->finish(); }

Merged merge(std::vector<Report> reports) {
  Merger merger;
  std::size_t number = 0;
  for (Report& report : reports) {
    std::string hash = content_sha256(report);
    merger.add({std::move(report), std::move(hash), fmt::format("report {}", ++number)});
  }
  return std::move(merger).finish();
}

}  // namespace bitproof::conformance
