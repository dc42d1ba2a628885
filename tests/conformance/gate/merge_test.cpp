#include "conformance/gate/merge.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "conformance/report/combine.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using testing::kBlocks;
using testing::sample_plan;
using testing::tested_record;

// Shard `index` of `count` of a run whose second record has errors.
Report shard(std::uint64_t index, std::uint64_t count, const std::string& host = "node") {
  Report report = sample_plan(3);
  report.shard = {index, count};
  report.run_id = run_id_of(report);
  report.environment.host = host + std::to_string(index);
  const BlockRange share = share_of(report.shard, kBlocks);
  for (std::size_t i = 0; i < report.records.size(); ++i) {
    report.records[i].device = "cuda:" + std::to_string(index % 2);
    report.records[i] = decided(tested_record(report.records[i], {&share, 1}, i == 1 ? 777 : 0), share);
  }
  return report;
}

std::vector<Report> shards(std::uint64_t count) {
  std::vector<Report> reports;
  for (std::uint64_t i = 0; i < count; ++i) reports.push_back(shard(i, count));
  return reports;
}

std::set<FindingKind> kinds(const Merged& merged) {
  std::set<FindingKind> found;
  for (const Finding& finding : merged.findings) found.insert(finding.kind);
  return found;
}

RC_GTEST_PROP(Merge, ShardsInAnyOrderGiveTheReportOfOneProcess, ()) {
  std::vector<Report> reports =
      shards(*rc::gen::inRange<std::uint64_t>(1, 80));  // also more shards than blocks
  const Merged in_order = merge(reports);
  RC_ASSERT(in_order.findings.empty());

  // The same, shuffled, some twice.
  std::vector<Report> shuffled = reports;
  shuffled.push_back(reports[*rc::gen::inRange<std::size_t>(0, reports.size())]);
  for (std::size_t i = shuffled.size() - 1; i > 0; --i)
    std::swap(shuffled[i], shuffled[*rc::gen::inRange<std::size_t>(0, i + 1)]);
  RC_ASSERT(merge(shuffled).report == in_order.report);

  const Merged whole = merge({shard(0, 1)});
  RC_ASSERT(whole.report.records.size() == in_order.report.records.size());
  for (std::size_t i = 0; i < whole.report.records.size(); ++i) {
    Record one = whole.report.records[i], many = in_order.report.records[i];
    // Which devices and reports took part is all that may differ.
    one.device = many.device;
    one.sources = many.sources;
    RC_ASSERT(one == many);
  }
}

RC_GTEST_PROP(Merge, RunsOfSeveralMachinesInAnyGroupingGiveTheSame, ()) {
  // Three complete runs with different seeds.
  std::vector<Report> runs;
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    Report run = shard(0, 1, "machine");
    run.seed = seed;
    for (Record& record : run.records) record.seed = seed;
    run.run_id = run_id_of(run);
    runs.push_back(run);
  }
  const Report at_once = merge(runs).report;
  const std::size_t last = *rc::gen::inRange<std::size_t>(0, 3);
  std::vector<Report> others = runs;
  others.erase(others.begin() + static_cast<std::ptrdiff_t>(last));
  const Report in_steps = merge({merge(others).report, runs[last]}).report;
  RC_ASSERT(in_steps == at_once);
}

TEST(Merge, KeepsEveryMachine) {
  const Report report = merge(shards(4)).report;
  ASSERT_EQ(report.sources.size(), 4u);
  EXPECT_EQ(report.sources[2].environment.host, "node2");
  EXPECT_EQ(report.sources[2].shard, (Shard{2, 4}));
  // 16 of 64 blocks at 0.25 s for each of 3 records.
  EXPECT_EQ(report.sources[2].seconds, 12.0);
  EXPECT_EQ(report.environment.host, "various");
  EXPECT_EQ(report.environment.tool_build, "build-1");
  for (const Record& record : report.records) {
    EXPECT_EQ(record.sources, (std::vector<BlockRange>{{0, 4}}));
    EXPECT_EQ(record.device, "cuda:0+cuda:1");
  }
}

TEST(Merge, AMergedReportIsAReport) {
  const Report report = merge(shards(4)).report;
  const Result<Report> read = parse_report_text(to_text(report), "merged");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, report);
  EXPECT_EQ(report.shard, (Shard{0, 1}));
}

TEST(Merge, OfOneReportChangesNothingButItsSources) {
  const Report alone = shard(0, 1);
  const Report merged = merge({alone}).report;
  EXPECT_EQ(merged.run_id, alone.run_id);
  EXPECT_EQ(merged.environment, alone.environment);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(merged.records[i].digest, alone.records[i].digest);
}

TEST(Merge, NamesTheMissingShards) {
  std::vector<Report> reports = shards(5);
  reports.erase(reports.begin() + 3);
  reports.erase(reports.begin() + 1);
  const Merged merged = merge(reports);
  ASSERT_EQ(kinds(merged), std::set{FindingKind::shard_missing});
  EXPECT_NE(merged.findings[0].message.find("2 of 5 shards are missing: 1/5, 3/5"), std::string::npos)
      << merged.findings[0].message;
  for (const Record& record : merged.report.records) EXPECT_NE(record.verdict, Verdict::bit_exact);
}

TEST(Merge, AgreeingDuplicatesCollapse) {
  std::vector<Report> reports = shards(4);
  reports.push_back(shard(2, 4, "spare"));  // the same shard on another machine
  const Merged merged = merge(reports);
  EXPECT_TRUE(merged.findings.empty());
  EXPECT_EQ(merged.report.sources.size(), 5u);
  EXPECT_EQ(merged.report.records.size(), 3u);
  EXPECT_EQ(merged.report.records[0].tested, 65536u);
}

TEST(Merge, DisagreeingDuplicatesAreNondeterminism) {
  std::vector<Report> reports = shards(4);
  reports.push_back(shard(2, 4, "spare"));
  reports.back().records[0].digest += 1;
  const Merged merged = merge(reports);
  ASSERT_EQ(kinds(merged), std::set{FindingKind::nondeterminism});
  EXPECT_EQ(merged.findings[0].record, label(reports[0].records[0]));
  EXPECT_NE(merged.findings[0].message.find("report 3 and report 5"), std::string::npos)
      << merged.findings[0].message;
}

TEST(Merge, TwoDevicesOfOneReportAreCompared) {
  Report report = shard(0, 1);
  report.records.push_back(report.records[0]);
  report.records.back().device = "cuda:1";
  EXPECT_TRUE(merge({report}).findings.empty());
  EXPECT_EQ(merge({report}).report.records[0].device, "cuda:0+cuda:1");
  report.records.back().digest += 1;
  EXPECT_EQ(kinds(merge({report})), std::set{FindingKind::nondeterminism});
}

TEST(Merge, DifferentArchitecturesStandBesideEachOther) {
  Report other = shard(0, 1, "other");
  for (Record& record : other.records) record.architecture = "sm_120";
  const Merged merged = merge({shard(0, 1), other});
  EXPECT_TRUE(merged.findings.empty());
  EXPECT_EQ(merged.report.records.size(), 6u);
}

TEST(Merge, RefusesShardsOfDifferentBuilds) {
  std::vector<Report> reports = shards(2);
  reports[1].environment.tool_build = "build-2";
  EXPECT_TRUE(kinds(merge(reports)).contains(FindingKind::mixed_tool_builds));
}

TEST(Merge, OfNothingIsEmpty) { EXPECT_TRUE(merge({}).report.records.empty()); }

}  // namespace
}  // namespace bitproof::conformance
