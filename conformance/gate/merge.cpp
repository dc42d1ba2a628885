#include "conformance/gate/merge.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>
#include <tbb/parallel_sort.h>

#include "conformance/gate/same_blocks.h"
#include "conformance/gate/sources.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

constexpr BlockRange whole(const Record& record) { return {0, record.blocks_total}; }

// The reports that share a run id.
struct Run {
  std::string id, tool_build;
  std::uint32_t report = 0;  // the first one's number
  std::uint64_t shards = 1;
  std::set<std::uint64_t> present;
};

// Where a record came from: the numbers of its run and of the first report that had it.
struct Origin {
  std::uint32_t run = 0, report = 0;
};

// All that one run says about one record. The sum itself lies among the records of the result; that of a
// thousand reports with nothing in common should need little more memory than their records.
struct Group {
  std::size_t record = 0;            // the sum
  std::vector<PartialResult> parts;  // kept from the second part on; until then the sum is the part
};

std::size_t hash_of(const Record& record, std::uint32_t run) {
  std::size_t hash = run;
  for (const std::string* field : {&record.op, &record.dtype, &record.implementation, &record.domain,
                                   &record.architecture, &record.machine_code_key})
    hash = hash * 0x9e3779b97f4a7c15u + std::hash<std::string>{}(*field);
  return hash;
}

}  // namespace

struct Merger::State {
  std::vector<std::string> names;                    // of reports
  std::map<std::string, std::uint32_t> run_numbers;  // by id
  std::vector<Run> runs;
  std::unordered_multimap<std::size_t, std::uint32_t> group_numbers;  // by hash_of()
  std::vector<Group> groups;
  std::vector<Record> records;  // the groups' sums, and what was disputed; `sources` are numbers of `sources`
  std::vector<Origin> origins;  // of the records
  std::vector<Source> sources;
  std::set<std::string> seen;  // content hashes
  std::set<std::string> profiles;
  std::set<std::uint64_t> seeds;
  std::optional<MutationScore> mutation_score;
  std::vector<Finding> findings;

  void note(FindingKind kind, const std::string& subject, const std::string& what) {
    findings.push_back({kind, subject, subject + ": " + what});
  }

  std::string pair_of(std::uint32_t a, std::uint32_t b) const {
    return fmt::format("{} and {}", std::min(names[a], names[b]), std::max(names[a], names[b]));
  }

  // --- Adding ------------------------------------------------------------------------------------------------

  void add(StoredReport stored) {
    if (!seen.insert(stored.content_sha256).second) return;
    Report& report = stored.report;
    const auto number = static_cast<std::uint32_t>(names.size());
    names.push_back(stored.name);
    const std::uint64_t first_source = sources.size();
    if (report.sources.empty()) {
      sources.push_back(source_of(stored));
    } else {
      sources.insert(sources.end(), report.sources.begin(), report.sources.end());
    }
    profiles.insert(report.profile);
    seeds.insert(report.seed);
    mutation_score = worse(mutation_score, report.mutation_score);

    const std::uint32_t run = run_of(report, number);
    if (!belongs(runs[run], report, number)) return;
    runs[run].present.insert(report.shard.index);
    for (Record& record : report.records) {
      if (record.sources.empty()) record.sources = {{0, 1}};
      for (BlockRange& range : record.sources) range = {range.begin + first_source, range.end + first_source};
      add(std::move(record), run, number);
    }
  }

  std::uint32_t run_of(const Report& report, std::uint32_t number) {
    const auto [entry, is_new] =
        run_numbers.try_emplace(report.run_id, static_cast<std::uint32_t>(runs.size()));
    if (is_new) runs.push_back({report.run_id, report.environment.tool_build, number, report.shard.count, {}});
    return entry->second;
  }

  bool belongs(const Run& run, const Report& report, std::uint32_t number) {
    if (run.tool_build != report.environment.tool_build) {
      note(FindingKind::mixed_tool_builds, "run " + run.id,
           fmt::format("{} come from other builds of the tool; run all shards with one build",
                       pair_of(run.report, number)));
      return false;
    }
    if (run.shards != report.shard.count) {
      note(FindingKind::shard_conflict, "run " + run.id,
           fmt::format("{} divide it into other numbers of shards; pass the shards of one division",
                       pair_of(run.report, number)));
      return false;
    }
    return true;
  }

  Group* find_group(const Record& record, std::uint32_t run, std::size_t hash) {
    const auto [begin, end] = group_numbers.equal_range(hash);
    for (auto entry = begin; entry != end; ++entry) {
      Group& group = groups[entry->second];
      if (origins[group.record].run == run && same_identity(records[group.record], record)) return &group;
    }
    return nullptr;
  }

  void add(Record record, std::uint32_t run, std::uint32_t report) {
    const std::size_t hash = hash_of(record, run);
    Group* const group = find_group(record, run, hash);
    if (group == nullptr) {
      group_numbers.emplace(hash, static_cast<std::uint32_t>(groups.size()));
      groups.push_back({records.size(), {}});
      add_record(std::move(record), {run, report});
      return;
    }
    Record& sum = records[group->record];
    if (group->parts.empty()) group->parts.push_back(partial_result(sum, names[origins[group->record].report]));
    if (overlap(sum.blocks, record.blocks)) {
      add_again(*group, std::move(record), {run, report});
      return;
    }
    Result<Record> next = combine(sum, record);
    if (!next) {
      findings.push_back({FindingKind::shard_conflict, label(record),
                          fmt::format("{}; {} do not belong together", next.error().message(),
                                      pair_of(origins[group->record].report, report))});
      return;
    }
    group->parts.push_back(partial_result(record, names[report]));
    sum = *std::move(next);
  }

  void add_record(Record record, Origin origin) {
    records.push_back(std::move(record));
    origins.push_back(origin);
  }

  // Blocks that are there already must be exactly those of an earlier part, and the same must have come out.
  void add_again(Group& group, Record record, Origin origin) {
    const std::string& name = names[origin.report];
    const Record& sum = records[group.record];
    const auto same = std::ranges::find(group.parts, record.blocks, &PartialResult::blocks);
    const bool comparable = record.total == sum.total && record.blocks_total == sum.blocks_total;
    if (same == group.parts.end() || !comparable) {
      note(FindingKind::shard_conflict, label(record),
           fmt::format("{} covers blocks that other reports of its run cover too, but not the same ones; pass "
                       "each shard once, "
                       "of one division into shards",
                       name));
    } else if (std::optional<Finding> finding = disagreement(record, *same, partial_result(record, name))) {
      findings.push_back(*std::move(finding));
      // It stays beside the sum, so that a gate sees what is wrong with either.
      add_record(std::move(record), origin);
    } else {
      records[group.record] = confirmed(sum, record);
    }
  }

  // --- Finishing ---------------------------------------------------------------------------------------------

  Merged finish() {
    check_shards();
    // A shard's verdict speaks for the shard; from here on it is about the domain.
    for (const Group& group : groups) {
      Record& record = records[group.record];
      if (runs[origins[group.record].run].shards > 1 && record.tested > 0)
        record = decided(std::move(record), whole(record));
    }
    std::vector<std::uint32_t> order = sorted_order();
    compare_runs(order);
    reorder(std::move(order));
    renumber_sources();

    Merged merged;
    std::ranges::sort(findings, {}, [](const Finding& f) { return std::tie(f.record, f.kind, f.message); });
    merged.findings = std::move(findings);
    if (sources.empty()) return merged;
    Report& report = merged.report;
    report.environment = common_environment(sources);
    report.run_id = common_run_id(sources);
    report.profile = fmt::format("{}", fmt::join(profiles, "+"));
    report.seed = seeds.size() == 1 ? *seeds.begin() : 0;
    report.mutation_score = mutation_score;
    report.sources = std::move(sources);
    report.records = std::move(records);
    return merged;
  }

  void check_shards() {
    for (const Run& run : runs) {
      std::vector<std::string> missing;
      for (std::uint64_t i = 0; i < run.shards && missing.size() < 20; ++i)
        if (!run.present.contains(i)) missing.push_back(name(Shard{i, run.shards}));
      if (missing.empty()) continue;
      const std::uint64_t count = run.shards - run.present.size();
      note(FindingKind::shard_missing, "run " + run.id,
           fmt::format("{} of {} shards are missing: {}{}; pass their reports, or run them with --shard", count,
                       run.shards, fmt::join(missing, ", "), count > missing.size() ? ", ..." : ""));
    }
    for (const Group& group : groups) {
      const Run& run = runs[origins[group.record].run];
      const Record& record = records[group.record];
      // Without a block there is no evidence that could be incomplete.
      if (run.shards == 1 || record.blocks.empty()) continue;
      std::set<std::uint64_t> has;
      for (const BlockRange& range : record.sources)
        for (std::uint64_t i = range.begin; i < range.end; ++i) has.insert(sources[i].shard.index);
      const auto lacking =
          std::ranges::find_if(run.present, [&](std::uint64_t shard) { return !has.contains(shard); });
      if (lacking == run.present.end()) continue;
      note(FindingKind::shard_missing, label(record),
           fmt::format(
               "shard {} of run {} has no such record; run that shard again on a machine like the others",
               name(Shard{*lacking, run.shards}), run.id));
    }
  }

  // The records by identity, and those of several runs by run.
  std::vector<std::uint32_t> sorted_order() const {
    std::vector<std::uint32_t> order(records.size());
    std::iota(order.begin(), order.end(), 0u);
    tbb::parallel_sort(order, [&](std::uint32_t a, std::uint32_t b) {
      const auto x = identity_of(records[a]), y = identity_of(records[b]);
      if (x != y) return x < y;
      const auto rest = [&](std::uint32_t i) {
        return std::tie(runs[origins[i].run].id, records[i].tested, records[i].digest);
      };
      return rest(a) < rest(b);
    });
    return order;
  }

  // What several runs say about the same record: equal blocks confirm or contradict each other, others stand
  // beside. Takes out of `order` what was absorbed by an equal record.
  void compare_runs(std::vector<std::uint32_t>& order) {
    if (runs.size() < 2) return;
    std::vector<bool> absorbed(records.size());
    for (std::size_t begin = 0; begin < order.size(); ++begin) {
      for (std::size_t next = begin + 1; next < order.size(); ++next) {
        if (absorbed[order[begin]] || !same_identity(records[order[begin]], records[order[next]])) break;
        if (!absorbed[order[next]]) absorbed[order[next]] = absorbs(order[begin], order[next]);
      }
    }
    std::erase_if(order, [&](std::uint32_t i) { return absorbed[i]; });
  }

  bool absorbs(std::uint32_t first, std::uint32_t second) {
    Record& a = records[first];
    const Record& b = records[second];
    const bool comparable = origins[first].run != origins[second].run && a.blocks == b.blocks &&
                            a.total == b.total && a.blocks_total == b.blocks_total;
    if (!comparable) return false;
    const std::string &name_a = names[origins[first].report], &name_b = names[origins[second].report];
    if (auto finding = disagreement(a, partial_result(a, name_a), partial_result(b, name_b))) {
      findings.push_back(*std::move(finding));
      return false;
    }
    a = confirmed(a, b);
    return true;
  }

  // Leaves the records of `order`, in it, without a second copy of all.
  void reorder(std::vector<std::uint32_t> order) {
    const std::size_t kept = order.size();
    // What is dropped goes to the end, so that `order` is a permutation.
    std::vector<bool> is_kept(records.size());
    for (const std::uint32_t i : order) is_kept[i] = true;
    for (std::uint32_t i = 0; i < records.size(); ++i)
      if (!is_kept[i]) order.push_back(i);
    // Cycle by cycle; a place that was filled points to itself.
    for (std::uint32_t start = 0; start < order.size(); ++start) {
      Record displaced = std::move(records[start]);
      std::uint32_t place = start;
      while (order[place] != start) {
        const std::uint32_t from = std::exchange(order[place], place);
        records[place] = std::move(records[from]);
        place = from;
      }
      order[place] = place;
      records[place] = std::move(displaced);
    }
    records.resize(kept);
  }

  void renumber_sources() {
    const std::vector<std::uint32_t> number = sort_sources(sources);
    for (Record& record : records) {
      std::vector<BlockRange> renumbered;
      for (const BlockRange& range : record.sources)
        for (std::uint64_t i = range.begin; i < range.end; ++i)
          renumbered.push_back({number[i], number[i] + 1u});
      record.sources = unite(renumbered, {});
    }
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
