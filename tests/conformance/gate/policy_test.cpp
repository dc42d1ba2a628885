#include "conformance/gate/policy.h"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/conformance/gate/world.h"
#include "tests/conformance/report/samples.h"
#include "tests/conformance/report/schema.h"

namespace bitproof::conformance {
namespace {

using nlohmann::json;

json policy_schema() { return json::parse(testing::read_text(BITPROOF_SCHEMAS "/policy.schema.json")); }

json with_comments(const std::string& text) { return json::parse(text, nullptr, true, true); }

Error error_of(const json& policy) {
  const Result<Policy> parsed = parse_policy(policy.dump(), "p.jsonc");
  EXPECT_FALSE(parsed) << policy.dump(2);
  return parsed ? Error{} : parsed.error();
}

TEST(Policy, SpansTheCrossProduct) {
  const Result<Policy> policy = load_policy(BITPROOF_FIXTURES "/policies/example.jsonc");
  ASSERT_TRUE(policy) << policy.error().message();
  // 2 dtypes x 4 domains, two single records, and 2 dtypes emulated.
  ASSERT_EQ(policy->required.size(), 12u);
  EXPECT_EQ(label(policy->required[0]), "bias_gelu_tanh bf16 cuda.fused values sm_90");
  EXPECT_EQ(policy->required[0].minimum_tested, 65536u);
  EXPECT_EQ(policy->required[1].minimum_tested, 4294967296u);
  EXPECT_EQ(policy->required[2].minimum_tested, 1u);  // boundary, of which the policy says nothing
  EXPECT_EQ(policy->required[8].accept, std::vector{Verdict::known_mismatch});
  EXPECT_EQ(policy->required[9].equality, "ulp<=1");
  EXPECT_EQ(policy->required[9].minimum_tested, 1048576u);
  EXPECT_EQ(policy->required[9].evidence, "executed");
  EXPECT_EQ(policy->required[10].evidence, "emulated");
  EXPECT_EQ(policy->maximum_age, std::chrono::days{30});
  ASSERT_EQ(policy->waivers.size(), 1u);
  EXPECT_EQ(policy->waivers[0].expires, std::chrono::year{2026} / 12 / 31);
}

TEST(Policy, TheProjectsOwnIsReadable) {
  const Result<Policy> policy = load_policy(BITPROOF_FIXTURES "/policies/project.jsonc");
  ASSERT_TRUE(policy) << policy.error().message();
  // A card is needed to run, so an architecture is either required or compiled only.
  for (const CompiledOnly& entry : policy->compiled_only)
    EXPECT_EQ(std::ranges::count(policy->required, entry.architecture, &Requirement::architecture), 0);
}

TEST(Policy, TheCommittedOnesFitTheSchema) {
  for (const char* file : {"/policies/example.jsonc", "/policies/project.jsonc"})
    EXPECT_EQ(testing::violation(policy_schema(),
                                 with_comments(testing::read_text(std::string{BITPROOF_FIXTURES} + file))),
              "");
}

TEST(Policy, RefusesWhatWouldRequireLessThanItSeems) {
  struct Case {
    const char* place;
    std::function<void(json&)> edit;
    bool schema_knows = true;
  };
  const Case cases[] = {
      {"/required", [](json& p) { p["required"].clear(); }},
      {"/required", [](json& p) { p.erase("required"); }},
      {"/require", [](json& p) { p["require"] = p["required"]; }},
      {"/required/0/domain", [](json& p) { p["required"][0]["domain"] = "values"; }},
      {"/required/0/domains", [](json& p) { p["required"][0]["domains"].clear(); }},
      {"/required/0/domains/0", [](json& p) { p["required"][0]["domains"][0] = 1; }},
      {"/required/0/profile", [](json& p) { p.erase("profile"); }, false},
      {"/required/1", [](json& p) { p["required"][1] = p["required"][0]; }, false},
      {"/required/0/accept/0", [](json& p) { p["required"][0]["accept"] = {"not_run"}; }},
      {"/required/0/accept", [](json& p) { p["required"][0]["accept"] = json::array(); }},
      {"/required/0/evidence", [](json& p) { p["required"][0]["evidence"] = "guessed"; }},
      {"/minimum_tested/values", [](json& p) { p["minimum_tested"]["values"] = 0; }},
      {"/minimum_tested/values", [](json& p) { p["minimum_tested"]["values"] = -1; }},
      {"/compiled_only/0/architecture", [](json& p) { p["compiled_only"][0]["architecture"] = "sm_90"; },
       false},
      {"/maximum_age_days", [](json& p) { p["maximum_age_days"] = "30"; }},
      {"/require_mutation_score", [](json& p) { p["require_mutation_score"] = 1; }},
  };
  for (const Case& c : cases) {
    json policy = testing::green_world().policy;
    c.edit(policy);
    const Error error = error_of(policy);
    EXPECT_EQ(error.where, std::string{"p.jsonc, "} + c.place) << error.message();
    EXPECT_EQ(testing::violation(policy_schema(), policy).empty(), !c.schema_knows) << c.place;
  }
}

TEST(Policy, AWaiverNeedsScopeFindingReasonOwnerAndDay) {
  testing::World world = testing::green_world();
  world.waive("mismatch", "values", "2026-12-31");
  const json good = world.policy;
  ASSERT_TRUE(parse_policy(good.dump(), "p.jsonc"));
  EXPECT_EQ(testing::violation(policy_schema(), good), "");
  for (const auto& [key, value] : good["waivers"][0].items()) {
    json missing = good, empty = good;
    missing["waivers"][0].erase(key);
    EXPECT_EQ(error_of(missing).where, "p.jsonc, /waivers/0/" + key);
    EXPECT_NE(testing::violation(policy_schema(), missing), "") << key;
  }
  for (const auto& [key, value] :
       std::initializer_list<std::pair<const char*, const char*>>{{"finding", "anything"},
                                                                  {"reason", ""},
                                                                  {"owner", ""},
                                                                  {"expires", "2026-02-30"},
                                                                  {"expires", "never"}}) {
    json bad = good;
    bad["waivers"][0][key] = value;
    EXPECT_EQ(error_of(bad).where, std::string{"p.jsonc, /waivers/0/"} + key);
  }
}

TEST(Policy, SaysWhereItIsNoJson) {
  const Result<Policy> policy = parse_policy("{\n  \"schema_version\": \"1.0\",,\n}", "p.jsonc");
  ASSERT_FALSE(policy);
  EXPECT_NE(policy.error().message().find("line 2"), std::string::npos) << policy.error().message();
}

TEST(Policy, RefusesANumberThatNothingHolds) {
  // Found by the fuzzer: such a number is no error of syntax to the JSON library, and ended the process.
  const Result<Policy> policy = parse_policy("6E333", "p.jsonc");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().kind, ErrorKind::malformed);
}

TEST(Policy, RefusesAnotherMajorVersion) {
  const Result<Policy> policy = parse_policy(R"({"schema_version": "2.0"})", "p.jsonc");
  ASSERT_FALSE(policy);
  EXPECT_EQ(policy.error().kind, ErrorKind::unsupported_version);
}

}  // namespace
}  // namespace bitproof::conformance
