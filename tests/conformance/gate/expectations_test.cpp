#include "conformance/gate/expectations.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/conformance/gate/world.h"
#include "tests/conformance/report/samples.h"
#include "tests/conformance/report/schema.h"

namespace bitproof::conformance {
namespace {

using nlohmann::json;
using testing::green_world;
using testing::kBlocks;

json expectations_schema() {
  return json::parse(testing::read_text(BITPROOF_SCHEMAS "/expectations.schema.json"));
}

// A CPU implementation that is wrong in every 1000th element, and the expectation of just that. There are
// 65 of them (999, 1999, ..., 64999) with distances 1, 2, 4, ... 64 in turn, and a digest that is of this very
// output.
Record cpu_record(std::uint64_t every) {
  const BlockRange all{0, kBlocks};
  return testing::tested_record(testing::planned_record("gelu_tanh"), {&all, 1}, every);
}

std::vector<Expectation> expectations_for(const Record& record) {
  json expectation = green_world().expectations["expectations"][0];
  expectation["implementation"] = record.implementation;
  expectation["architecture"] = record.architecture;
  expectation["library_version"] = "";
  expectation["kinds"]["value"] = 65;
  expectation["max_ulp"] = 64;
  const json document = {{"schema_version", "1.0"}, {"expectations", {expectation}}};
  EXPECT_EQ(testing::violation(expectations_schema(), document), "");
  const Result<std::vector<Expectation>> parsed = parse_expectations(document.dump(), "e.json");
  EXPECT_TRUE(parsed) << parsed.error().message();
  return *parsed;
}

TEST(Expectations, ACpuRecordThatMeetsItsExpectationIsAKnownMismatch) {
  const Record record = cpu_record(1000);
  ASSERT_EQ(record.verdict, Verdict::mismatch);
  const std::vector<Expectation> expectations = expectations_for(record);
  const Record known = with_expectation(record, expectations);
  EXPECT_EQ(known.verdict, Verdict::known_mismatch);
  EXPECT_EQ(known.reason, "the library's epilogue rounds once");
}

TEST(Expectations, SayHowARecordMissesThem) {
  const Expectation expectation = expectations_for(cpu_record(1000))[0];
  EXPECT_EQ(compare(expectation, cpu_record(1000)), Agreement::met);
  EXPECT_EQ(compare(expectation, cpu_record(500)), Agreement::grew);
  EXPECT_EQ(compare(expectation, cpu_record(2000)), Agreement::shrank);
  EXPECT_EQ(compare(expectation, cpu_record(0)), Agreement::vanished);
  Record others = cpu_record(1000);
  others.digest += 1;
  EXPECT_EQ(compare(expectation, others), Agreement::changed);
  others = cpu_record(1000);
  others.max_ulp = 128;
  EXPECT_EQ(compare(expectation, others), Agreement::changed);
}

TEST(Expectations, WhatMissesThemStaysAMismatch) {
  const std::vector<Expectation> expectations = expectations_for(cpu_record(1000));
  EXPECT_EQ(with_expectation(cpu_record(500), expectations).verdict, Verdict::mismatch);
  EXPECT_EQ(with_expectation(cpu_record(0), expectations).verdict, Verdict::bit_exact);
  // A part of the domain cannot meet the expectation of the whole.
  const BlockRange part{0, 63};
  EXPECT_EQ(with_expectation(testing::tested_record(testing::planned_record("gelu_tanh"), {&part, 1}, 1000),
                             expectations)
                .verdict,
            Verdict::mismatch);
}

TEST(Expectations, ConcernOneRecordOnly) {
  const std::vector<Expectation> expectations = expectations_for(cpu_record(1000));
  for (auto member : {&Record::op, &Record::dtype, &Record::implementation, &Record::domain,
                      &Record::architecture, &Record::profile, &Record::library_version}) {
    Record other = cpu_record(1000);
    other.*member = "other";
    EXPECT_EQ(find_expectation(expectations, other), nullptr);
  }
  Record other_seed = cpu_record(1000);
  other_seed.seed += 1;
  EXPECT_EQ(find_expectation(expectations, other_seed), nullptr);
}

TEST(Expectations, TheProjectsOwnAreReadableAndFitTheSchema) {
  const char* const file = BITPROOF_FIXTURES "/expectations/known_mismatches.json";
  const Result<std::vector<Expectation>> expectations = load_expectations(file);
  ASSERT_TRUE(expectations) << expectations.error().message();
  EXPECT_EQ(
      testing::violation(expectations_schema(), json::parse(testing::read_text(file), nullptr, true, true)),
      "");
}

TEST(Expectations, RefuseWhatIsIncomplete) {
  const json good = green_world().expectations;
  for (const auto& [key, value] : good["expectations"][0].items()) {
    if (key == "library_version") continue;
    json bad = good;
    bad["expectations"][0].erase(key);
    const auto parsed = parse_expectations(bad.dump(), "e.json");
    ASSERT_FALSE(parsed) << key;
    EXPECT_TRUE(parsed.error().where.starts_with("e.json, /expectations/0/" + key)) << parsed.error().message();
    EXPECT_NE(testing::violation(expectations_schema(), bad), "") << key;
  }
  json twice = good, nothing = good, unknown = good;
  twice["expectations"].push_back(twice["expectations"][0]);
  nothing["expectations"][0]["kinds"]["value"] = 0;
  unknown["expectations"][0]["count"] = 1;
  for (const json* bad : {&twice, &nothing, &unknown}) EXPECT_FALSE(parse_expectations(bad->dump(), "e.json"));
}

}  // namespace
}  // namespace bitproof::conformance
