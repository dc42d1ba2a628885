// The schema and the writer describe the same thing.
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "conformance/report/report.h"
#include "tests/conformance/report/samples.h"
#include "tests/conformance/report/schema.h"

namespace bitproof::conformance {
namespace {

using nlohmann::json;
using testing::kBlocks;
using testing::violation;

const json& schema() {
  static const json parsed = json::parse(testing::read_text(BITPROOF_SCHEMAS "/report.schema.json"));
  return parsed;
}

json wrong_report() {
  Report report = testing::sample_plan(2);
  const BlockRange all{0, kBlocks};
  report.records[0] = testing::tested_record(report.records[0], {&all, 1}, 1000);
  report.records[0].first->got_value = std::numeric_limits<double>::quiet_NaN();
  report.sources = {{"run", {1, 2}, testing::sample_environment(), 3, 1.5, std::string(64, '0')}};
  report.records[0].sources = {{0, 1}};
  report.mutation_score = MutationScore{9, 10, 1};
  return to_json(report);
}

TEST(ReportSchema, AcceptsAReportWithEveryField) { EXPECT_EQ(violation(schema(), wrong_report()), ""); }

TEST(ReportSchema, AcceptsAPlan) { EXPECT_EQ(violation(schema(), to_json(testing::sample_plan(3))), ""); }

TEST(ReportSchema, RefusesWhatTheReaderRefuses) {
  const json good = wrong_report();
  for (const auto& [pointer, value] : std::initializer_list<std::pair<const char*, json>>{
           {"/schema_version", "2.0"},
           {"/seed", 42},
           {"/records/0/verdict", "passed"},
           {"/records/0/tested", -1},
           {"/records/0/digest", "12"},
           {"/records/0/blocks", {{1, 2, 3}}},
           {"/records/0/kinds", json::object()},
           {"/records/0/first/kind", "other"},
           {"/environment/devices", "none"},
       }) {
    json bad = good;
    bad[json::json_pointer(pointer)] = value;
    EXPECT_NE(violation(schema(), bad), "") << pointer;
  }
}

TEST(ReportSchema, RequiresWhatTheReaderRequires) {
  const json good = wrong_report();
  for (const json& field : schema()["definitions"]["record"]["required"]) {
    json bad = good;
    bad["records"][0].erase(field.get<std::string>());
    EXPECT_NE(violation(schema(), bad), "") << field;
    EXPECT_FALSE(parse_report_text(bad.dump(), "r.json")) << field;
  }
}

TEST(ReportSchema, DescribesEveryFieldThatIsWritten) {
  const json report = wrong_report();
  const auto expect_described = [](const json& written, const json& described) {
    for (const auto& [key, value] : written.items()) EXPECT_TRUE(described["properties"].contains(key)) << key;
  };
  const json& definitions = schema()["definitions"];
  expect_described(report, schema());
  expect_described(report["environment"], definitions["environment"]);
  expect_described(report["records"][0], definitions["record"]);
  expect_described(report["records"][0]["first"], definitions["counterexample"]);
}

}  // namespace
}  // namespace bitproof::conformance
