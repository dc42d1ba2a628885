// The schema and the writer describe the same thing.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "conformance/report/report.h"
#include "conformance/report/report_text.h"
#include "conformance/report/sha256.h"
#include "tests/conformance/report/samples.h"
#include "tests/conformance/report/schema.h"

namespace bitproof::conformance {
namespace {

using testing::kBlocks;
using testing::violation;

const nlohmann::json& schema() {
  static const nlohmann::json parsed =
      nlohmann::json::parse(testing::read_text(BITPROOF_SCHEMAS "/report.schema.json"));
  return parsed;
}

Report report_with_everything() {
  Report report = testing::sample_plan(2);
  const BlockRange all{0, kBlocks};
  report.records[0] = testing::tested_record(report.records[0], {&all, 1}, 1000);
  report.records[0].first->got_value = std::numeric_limits<double>::quiet_NaN();
  report.sources = {{"run", {1, 2}, testing::sample_environment(), 3, 1.5, std::string(64, '0')}};
  report.records[0].sources = {{0, 1}};
  report.mutation_score = MutationScore{9, 10, 1};
  return report;
}

nlohmann::json written_report() { return nlohmann::json::parse(to_text(report_with_everything())); }

TEST(ReportSchema, AcceptsAReportWithEveryField) { EXPECT_EQ(violation(schema(), written_report()), ""); }

TEST(ReportSchema, AcceptsAPlan) {
  EXPECT_EQ(violation(schema(), nlohmann::json::parse(to_text(testing::sample_plan(3)))), "");
}

TEST(ReportSchema, RefusesWhatTheReaderRefuses) {
  const nlohmann::json good = written_report();
  for (const auto& [pointer, value] : std::initializer_list<std::pair<const char*, nlohmann::json>>{
           {"/schema_version", "2.0"},
           {"/seed", 42},
           {"/records/0/verdict", "passed"},
           {"/records/0/tested", -1},
           {"/records/0/digest", "12"},
           {"/records/0/blocks", {{1, 2, 3}}},
           {"/records/0/kinds", nlohmann::json::object()},
           {"/records/0/first/kind", "other"},
           {"/environment/devices", "none"},
       }) {
    nlohmann::json bad = good;
    bad[nlohmann::json::json_pointer(pointer)] = value;
    EXPECT_NE(violation(schema(), bad), "") << pointer;
  }
}

// The report with another first record, whose hashes are right nevertheless.
std::string with_first_record(Json report, Json record) {
  record.erase("sha256");
  record["sha256"] = sha256_hex(compact(record));
  report["records"][0] = record;
  std::vector<std::string> hashes;
  for (const Json& each : report["records"]) hashes.push_back(each["sha256"]);
  Json header = report;
  header.erase("records");
  header.erase("content_sha256");
  report["content_sha256"] = content_hash(header, hashes);
  return report.dump();
}

TEST(ReportSchema, RequiresWhatTheReaderRequires) {
  const Json good = Json::parse(to_text(report_with_everything()));
  ASSERT_TRUE(parse_report_text(with_first_record(good, good["records"][0]), "r.json"));
  for (const nlohmann::json& field : schema()["definitions"]["record"]["required"]) {
    Json record = good["records"][0];
    record.erase(field.get<std::string>());
    const std::string bad = with_first_record(good, record);
    if (field == "sha256") continue;  // with_first_record() puts it back; see ReportJson
    EXPECT_NE(violation(schema(), nlohmann::json::parse(bad)), "") << field;
    const Result<Report> read = parse_report_text(bad, "r.json");
    ASSERT_FALSE(read) << field;
    EXPECT_EQ(read.error().kind, ErrorKind::malformed) << read.error().message();
    EXPECT_TRUE(read.error().where.starts_with("r.json, /records/0/" + field.get<std::string>()))
        << read.error().message();
  }
}

TEST(ReportSchema, AndTheReaderAcceptFieldsOfLaterMinorVersions) {
  const Json good = Json::parse(to_text(report_with_everything()));
  Json record = good["records"][0];
  record["added_later"] = 1;
  const std::string text = with_first_record(good, record);
  EXPECT_EQ(violation(schema(), nlohmann::json::parse(text)), "");
  const Result<Report> read = parse_report_text(text, "r.json");
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(to_text(*read), to_text(report_with_everything()));
}

TEST(ReportSchema, DescribesEveryFieldThatIsWritten) {
  const nlohmann::json report = written_report();
  const auto expect_described = [](const nlohmann::json& written, const nlohmann::json& described) {
    for (const auto& [key, value] : written.items()) EXPECT_TRUE(described["properties"].contains(key)) << key;
  };
  const nlohmann::json& definitions = schema()["definitions"];
  expect_described(report, schema());
  expect_described(report["environment"], definitions["environment"]);
  expect_described(report["records"][0], definitions["record"]);
  expect_described(report["records"][0]["first"], definitions["counterexample"]);
}

}  // namespace
}  // namespace bitproof::conformance
