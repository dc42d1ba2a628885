#include <limits>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

#include "conformance/report/report.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using json = nlohmann::ordered_json;  // edits keep the order of members
using testing::kBlocks;
using testing::perfect_record;
using testing::planned_record;
using testing::tested_record;

Report full_report() {
  Report report = testing::sample_plan(2);
  const BlockRange all{0, kBlocks}, part{3, 9};
  report.records[0] = tested_record(report.records[0], {&all, 1}, 1000);
  report.records[1] = tested_record(report.records[1], {&part, 1}, 0);
  report.mutation_score = MutationScore{9, 10, 1};
  report.sources = {{"run", {1, 2}, testing::sample_environment(), 3, 1.5, std::string(64, '0')}};
  report.records[0].sources = {{0, 1}};
  report.records[0].library_version = "13.1.1";
  return report;
}

Error error_of(const std::string& text) {
  const Result<Report> report = parse_report_text(text, "r.json");
  EXPECT_FALSE(report);
  return report ? Error{} : report.error();
}

TEST(ReportJson, RoundTrips) {
  const Report report = full_report();
  const Result<Report> read = parse_report_text(to_text(report), "r.json");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(*read, report);
}

TEST(ReportJson, ReadsAFileOrItsDirectory) {
  const testing::TemporaryDirectory directory;
  testing::write_text(directory.path() / "report.json", to_text(full_report()));
  EXPECT_EQ(*parse_report(directory.path()), full_report());
  EXPECT_EQ(*parse_report(directory.path() / "report.json"), full_report());
}

TEST(ReportJson, KeepsAll64BitsOfDigestsAndSeeds) {
  Report report = testing::sample_plan(1);
  report.seed = 0xffff'ffff'ffff'ffff;
  report.records[0].digest = 0x8000'0000'0000'0001;
  const json written = to_json(report);
  EXPECT_EQ(written["seed"], "0xffffffffffffffff");
  EXPECT_EQ(written["records"][0]["digest"], "0x8000000000000001");
  EXPECT_EQ(*parse_report_text(written.dump(), "r.json"), report);
}

TEST(ReportJson, WritesNaNAndInfinitiesAsStrings) {
  Report report = full_report();
  report.records[0].first->expected_value = -std::numeric_limits<double>::infinity();
  report.records[0].first->got_value = std::numeric_limits<double>::quiet_NaN();
  const json first = to_json(report)["records"][0]["first"];
  EXPECT_EQ(first["expected_value"], "-inf");
  EXPECT_EQ(first["got_value"], "nan");
  EXPECT_TRUE(std::isnan(parse_report_text(to_text(report), "r.json")->records[0].first->got_value));
}

TEST(ReportJson, LeavesOutErrorsThatAreAllZero) {
  Record record = perfect_record("gelu_tanh");
  record.errors.assign(65536, 0);
  EXPECT_FALSE(to_json(record).contains("errors"));
}

TEST(ReportJson, SurvivesTextThatIsNotUtf8) {
  Report report = testing::sample_plan(1);
  report.environment.host = "caf\xe9";  // Latin-1
  EXPECT_TRUE(parse_report_text(to_text(report), "r.json"));
}

TEST(ReportJson, MayBeReformatted) {
  // Other white space is no damage.
  for (const int indent : {-1, 0, 4})
    EXPECT_EQ(*parse_report_text(json::parse(to_text(full_report())).dump(indent), "r.json"), full_report());
}

TEST(ReportJson, AcceptsLaterMinorVersions) {
  Report report = testing::sample_plan(1);
  report.schema.minor = 7;
  const Result<Report> read = parse_report_text(to_text(report), "r.json");
  ASSERT_TRUE(read);
  EXPECT_EQ(read->schema.minor, 7);
}

TEST(ReportJson, RefusesAnotherMajorVersion) {
  Report report = testing::sample_plan(1);
  report.schema.major = 2;
  const Error error = error_of(to_text(report));
  EXPECT_EQ(error.kind, ErrorKind::unsupported_version);
  EXPECT_EQ(error.where, "r.json, /schema_version");
}

TEST(ReportJson, FindsTheEditedRecord) {
  json report = json::parse(to_text(full_report()));
  report["records"][1]["tested"] = 6145;
  const Error error = error_of(report.dump());
  EXPECT_EQ(error.kind, ErrorKind::damaged);
  EXPECT_EQ(error.where, "r.json, /records/1");
}

TEST(ReportJson, FindsARecordWithAForgedHash) {
  json report = json::parse(to_text(full_report()));
  report["records"][1] =
      json::parse(to_text(testing::sample_plan(2)))["records"][1];  // valid, but of another report
  const Error error = error_of(report.dump());
  EXPECT_EQ(error.kind, ErrorKind::damaged);
  EXPECT_EQ(error.where, "r.json, /content_sha256");
}

TEST(ReportJson, FindsRemovedAndReorderedRecordsAndAnEditedHeader) {
  const json report = json::parse(to_text(full_report()));
  json removed = report, reordered = report, host = report;
  removed["records"].erase(1);
  std::swap(reordered["records"][0], reordered["records"][1]);
  host["environment"]["host"] = "another";
  for (const json& edited : {removed, reordered, host}) {
    const Error error = error_of(edited.dump());
    EXPECT_EQ(error.kind, ErrorKind::damaged);
    EXPECT_EQ(error.where, "r.json, /content_sha256");
  }
}

TEST(ReportJson, RefusesANumberThatNothingHolds) {
  // Found by the fuzzer, in the file as a whole and in a line of its list.
  std::string in_a_line = to_text(full_report());
  const std::string key = "\"tested\":";
  in_a_line.replace(in_a_line.find(key), key.size(), key + "6E333");
  for (const std::string& text : {std::string("6E333"), in_a_line})
    EXPECT_EQ(error_of(text).kind, ErrorKind::malformed);
}

TEST(ReportJson, SaysWhereATruncatedFileEnds) {
  std::string text = to_text(full_report());
  text.resize(text.size() / 2);
  const Error error = error_of(text);
  EXPECT_EQ(error.kind, ErrorKind::malformed);
  EXPECT_NE(error.message().find("r.json"), std::string::npos);
  EXPECT_NE(error.message().find("line"), std::string::npos) << error.message();
}

RC_GTEST_PROP(ReportJson, AnyFlippedBitIsFoundOrChangesNothing, ()) {
  static const std::string text = to_text(full_report());
  std::string flipped = text;
  const std::size_t at = *rc::gen::inRange<std::size_t>(0, text.size());
  flipped[at] = static_cast<char>(flipped[at] ^ (1 << *rc::gen::inRange(0, 8)));
  const Result<Report> read = parse_report_text(flipped, "r.json");
  // White space may become other white space.
  const bool found = !read;
  const bool harmless = read && *read == full_report();
  RC_ASSERT((found || harmless));
}

TEST(ReportJson, NamesThePlaceOfAMissingOrMisshapenField) {
  const auto place_of = [](const std::string& text) { return error_of(text).where; };
  EXPECT_EQ(place_of("[]"), "r.json, /schema_version");
  EXPECT_EQ(place_of(R"({"schema_version": "one"})"), "r.json, /schema_version");
  EXPECT_EQ(place_of(R"({"schema_version": "1.0"})"), "r.json, /records");
  EXPECT_EQ(place_of(R"({"schema_version": "1.0", "records": [{}], "content_sha256": ""})"),
            "r.json, /records/0/sha256");
  // Shapes behind valid hashes: what another writer might produce.
  Report report = testing::sample_plan(1);
  report.records[0].blocks = {{4, 2}};
  EXPECT_EQ(place_of(to_text(report)), "r.json, /records/0/blocks/0");
  report.records[0].blocks = {{2, 4}, {4, 6}};
  EXPECT_EQ(place_of(to_text(report)), "r.json, /records/0/blocks/1");
  report.records[0].blocks = {{0, kBlocks + 1}};
  EXPECT_EQ(place_of(to_text(report)), "r.json, /records/0/blocks");
  report.records[0].blocks = {};
  report.records[0].sources = {{0, 1}};
  EXPECT_EQ(place_of(to_text(report)), "r.json, /sources");
}

TEST(ReportJson, SaysThatAFileCannotBeRead) {
  const Result<Report> report = parse_report("/nonexistent/report.json");
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().kind, ErrorKind::unreadable);
}

TEST(ReportJson, ItsHashIsTheOneInTheFile) {
  EXPECT_EQ(to_json(full_report())["content_sha256"], content_sha256(full_report()));
}

TEST(RunId, IsTheSameForShardsAndMachinesAndDiffersForOtherRuns) {
  const Report plan = testing::sample_plan(3);
  Report shard = plan, device = plan, build = plan, seed = plan, smaller = plan, count = plan;
  shard.shard = {0, 1};
  device.environment.host = "node2";
  device.records[0].device = "cuda:1";
  device.records[0].architecture = "sm_80";
  build.environment.tool_build = "build-2";
  seed.seed = 43;
  smaller.records.pop_back();
  count.shard = {0, 2};
  EXPECT_EQ(run_id_of(shard), run_id_of(plan));
  EXPECT_EQ(run_id_of(device), run_id_of(plan));
  for (const Report* other : {&build, &seed, &smaller, &count}) EXPECT_NE(run_id_of(*other), run_id_of(plan));
}

}  // namespace
}  // namespace bitproof::conformance
