#include "conformance/gate/outputs.h"

#include <cstdlib>

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <pugixml.hpp>

#include "conformance/report/combine.h"
#include "tests/conformance/gate/world.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using testing::green_world;
using testing::kBlocks;
using testing::World;

// A gate with `count` required records, all of which fail with long messages full of markup.
GateResult failing_result(std::size_t count) {
  GateResult result;
  result.policy = "policy <&> of | many";
  for (std::size_t i = 0; i < count; ++i) {
    Outcome outcome;
    outcome.requirement.op = fmt::format("operator_{}", i);
    outcome.requirement.dtype = "bf16";
    outcome.requirement.implementation = "cuda.fused";
    outcome.requirement.domain = "values";
    outcome.requirement.architecture = fmt::format("sm_{}", i % 50);
    const std::string record = label(outcome.requirement);
    outcome.findings = {{FindingKind::mismatch, record,
                         record + ": <b>|`wrong`|</b> & \"more\"\x01\n" + std::string(500, '*')}};
    result.findings.push_back(outcome.findings[0]);
    outcome.record = testing::perfect_record("gelu_tanh");
    result.required.push_back(std::move(outcome));
  }
  result.compiled_only = {{"sm_80", "no card"}};
  return result;
}

GateResult result_of(World world) {
  Merged merged = merge({world.cpu_first, world.cpu_second, world.gpu});
  return decide(std::move(merged), *parse_policy(world.policy.dump(), "policy"),
                *parse_expectations(world.expectations.dump(), "expectations"), world.tree, world.now);
}

bool fits_the_schema(const std::string& junit) {
  const testing::TemporaryDirectory directory;
  const std::string file = (directory.path() / "junit.xml").string();
  testing::write_text(file, junit);
  const std::string command =
      fmt::format("{} --noout --schema '{}' '{}'", BITPROOF_XMLLINT, BITPROOF_JUNIT_SCHEMA, file);
  return std::system(command.c_str()) == 0;
}

pugi::xml_document parsed(const std::string& xml) {
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(xml.c_str()));
  return document;
}

std::size_t count(const pugi::xml_document& document, const char* xpath) {
  return document.select_nodes(xpath).size();
}

TEST(Markdown, FitsAPullRequestCommentWith1000Records) {
  for (const std::size_t records : {std::size_t{1}, std::size_t{1000}, std::size_t{5000}}) {
    const std::string text = to_markdown(failing_result(records));
    EXPECT_LT(text.size(), 65536u) << records;
    EXPECT_NE(text.find(fmt::format("{} findings", records)), std::string::npos);
  }
  // What was left out is counted, in the matrix, among the findings and among the records.
  const std::string text = to_markdown(failing_result(1000));
  EXPECT_NE(text.find("more, in the log and the JUnit file"), std::string::npos);
}

TEST(Markdown, EscapesMarkup) {
  const std::string text = to_markdown(failing_result(1));
  EXPECT_EQ(text.find("<b>"), std::string::npos);
  EXPECT_NE(text.find("&lt;b&gt;\\|\\`wrong"), std::string::npos) << text;
}

TEST(Markdown, ShowsTheMatrixAndTheRecordsOfAGreenGate) {
  const std::string text = to_markdown(result_of(green_world()));
  EXPECT_NE(text.find("| gelu\\_tanh bf16 | ✅ pass 3/3 | ✅ pass 3/3 | compiled only |"), std::string::npos)
      << text;
  EXPECT_NE(text.find("Compiled only, not counted as a pass: sm\\_80 (no card)."), std::string::npos) << text;
}

TEST(JUnit, FitsItsSchema) {
  EXPECT_TRUE(fits_the_schema(to_junit(result_of(green_world()))));
  EXPECT_TRUE(fits_the_schema(to_junit(failing_result(1000))));
  World world = green_world();
  world.cpu_second.records.pop_back();
  world.values() = testing::gpu_record("cuda.fused", "values", 5000);
  world.waive("mismatch", "values", "2026-12-31");
  EXPECT_TRUE(fits_the_schema(to_junit(result_of(world))));
  EXPECT_FALSE(fits_the_schema("<testsuites/>")) << "the schema accepts anything";
}

TEST(JUnit, HasOneCasePerRequiredRecordAndSkipsWhatWasOnlyCompiled) {
  const pugi::xml_document document = parsed(to_junit(result_of(green_world())));
  EXPECT_EQ(count(document, "//testcase"), 7u);  // 6 required records, sm_80
  EXPECT_EQ(count(document, "//failure"), 0u);
  EXPECT_EQ(count(document, "//testcase[skipped]"), 1u);
  EXPECT_EQ(count(document, "//testcase[@classname='sm_90.cuda.fused' and @name='gelu_tanh bf16 pairs']"), 1u);
}

TEST(JUnit, WhatDidNotRunIsAFailureAndWhatWasWaivedASkip) {
  World world = green_world();
  world.gpu.records.erase(world.gpu.records.begin() + 1);
  world.values() = testing::gpu_record("cuda.fused", "values", 5000);
  world.waive("mismatch", "values", "2026-12-31");
  const pugi::xml_document document = parsed(to_junit(result_of(world)));
  EXPECT_EQ(count(document, "//testcase[@name='gelu_tanh bf16 pairs']/failure[@type='vanished']"), 1u);
  EXPECT_EQ(
      count(document, "//testcase[@name='gelu_tanh bf16 values' and @classname='sm_90.cuda.fused']/skipped"),
      1u);
  const pugi::xml_node suite = document.select_node("//testsuite[@name='sm_90']").node();
  EXPECT_EQ(suite.attribute("tests").as_int(), 3);
  EXPECT_EQ(suite.attribute("failures").as_int(), 1);
  EXPECT_EQ(suite.attribute("skipped").as_int(), 1);
}

TEST(JUnit, FindingsWithoutARequiredRecordFailToo) {
  World world = green_world();
  world.gpu.mutation_score = MutationScore{19, 20, 0};
  const pugi::xml_document document = parsed(to_junit(result_of(world)));
  EXPECT_EQ(count(document, "//testcase[@classname='evidence']/failure[@type='mutation_score']"), 1u);
}

TEST(Annotations, AreOneLineEachAndTenAtMost) {
  const std::string text = to_github_annotations(failing_result(25));
  std::size_t errors = 0;
  for (std::size_t at = text.find("::error "); at != std::string::npos; at = text.find("::error ", at + 1))
    ++errors;
  EXPECT_EQ(errors, 10u);
  EXPECT_NE(text.find("::16 more, listed in the log"), std::string::npos) << text;
  EXPECT_NE(text.find("%0A"), std::string::npos);  // the line end inside the message
  EXPECT_NE(text.find("::error title=bitproof gate%3A mismatch::operator_0"), std::string::npos) << text;
}

TEST(Html, ShowsEverythingAboutAMismatchInOneFileWithoutScripts) {
  World world = green_world();
  const std::string html = to_html(world.gpu);
  EXPECT_EQ(html.find("<script"), std::string::npos);
  EXPECT_EQ(html.find("http"), std::string::npos) << "not self-contained";
  EXPECT_NE(html.find("data:image/bmp;base64,Qk"), std::string::npos);  // "BM" in base64
  EXPECT_NE(html.find("First counterexample"), std::string::npos);
  EXPECT_NE(html.find("Mismatches by ULP distance"), std::string::npos);
  EXPECT_NE(html.find("NVIDIA H200"), std::string::npos);
  EXPECT_NE(html.find("65536/65536 values"), std::string::npos);
}

TEST(Html, SaysWhyElementsDifferAndWhichAlgorithmsRan) {
  const std::string html = to_html(green_world().gpu);
  EXPECT_NE(html.find("Why they differ"), std::string::npos);
  // Of 65 wrong elements (every 1000th) distances go 1, 2, 4, 8, 16, 32, 64 in turn: 3 of 7 are below 8.
  EXPECT_NE(html.find("<td>small</td><td>29</td>"), std::string::npos);
  EXPECT_NE(html.find("<td>large</td><td>36</td>"), std::string::npos);
  EXPECT_NE(html.find("Algorithms of the library"), std::string::npos);
  EXPECT_NE(html.find("algorithm 1</td><td>2</td><td>4096</td>"), std::string::npos);
}

TEST(Html, EscapesWhatReportsSay) {
  World world = green_world();
  world.gpu.environment.host = "<img src=x>";
  world.known_wrong().first->layout = "\"><script>";
  const std::string html = to_html(world.gpu);
  EXPECT_EQ(html.find("<img src=x>"), std::string::npos);
  EXPECT_EQ(html.find("<script>"), std::string::npos);
}

// As of a kernel that writes one element too far.
Counterexample out_of_bounds() {
  Counterexample c;
  c.kind = "out_of_bounds";
  c.expected = "0xffa5";
  c.got = "0x0000";
  c.rows = 64;
  c.width = 1024;
  c.layout = "contiguous";
  c.parts_at = "a write to element 0 past the end of the output";
  c.reproduce = "./bitproof run --block 0";
  SmallestCase& smallest = c.smallest.emplace();
  smallest.rows = 1;
  smallest.width = 8;
  smallest.expected = c.expected;
  smallest.got = c.got;
  smallest.place = c.parts_at;
  smallest.reproduce = "./bitproof run --case 1x8,0,0,x=0x0000,bias=0x0000";
  return c;
}

TEST(Outputs, OfAWriteOutOfBoundsNameItsPlaceAndNoElement) {
  World world = green_world();
  world.known_wrong().first = out_of_bounds();
  const std::string html = to_html(world.gpu);
  EXPECT_NE(html.find("a write to element 0 past the end of the output"), std::string::npos);
  EXPECT_NE(html.find("<dd>a [64, 1024] tensor, block 0</dd>"), std::string::npos);
  EXPECT_NE(
      html.find(
          "<dd>[1, 8], a write to element 0 past the end of the output: expected 0xffa5, got 0x0000</dd>"),
      std::string::npos);
  EXPECT_EQ(html.find("row 0 of"), std::string::npos);

  const std::string report = to_terminal(world.gpu, Colour::off);
  EXPECT_NE(report.find("    a write to element 0 past the end of the output: expected 0xffa5, got 0x0000\n"
                        "    at a [64, 1024] tensor, contiguous\n"),
            std::string::npos)
      << report;

  world.expectations["expectations"] = nlohmann::json::array();
  const std::string gate = to_terminal(result_of(world), Colour::off);
  EXPECT_NE(gate.find("first a write to element 0 past the end of the output: expected 0xffa5, got 0x0000"),
            std::string::npos)
      << gate;
}

TEST(Html, SaysThatAShardIsNotTheWhole) {
  EXPECT_NE(to_html(green_world().cpu_first).find("Shard 0/2: a part of every domain only"), std::string::npos);
}

TEST(Html, CirclesSingleErrors) {
  World world = green_world();
  EXPECT_NE(to_html(world.gpu).find("<circle"), std::string::npos);           // 65 wrong inputs
  world.known_wrong() = testing::gpu_record("cuda.cublaslt", "values", 100);  // 655 wrong inputs
  EXPECT_EQ(to_html(world.gpu).find("<circle"), std::string::npos);
}

TEST(Terminal, KeepsManyFindingsOfAKindOnOneScreen) {
  const std::string text = to_terminal(failing_result(100), Colour::off);
  EXPECT_NE(text.find("  mismatch  92 more; --json"), std::string::npos) << text;
  EXPECT_NE(text.find("FAILED: 0 of 100 required records passed, 100 findings"), std::string::npos);
}

TEST(Terminal, UsesColoursOnlyWhenAsked) {
  const GateResult result = failing_result(3);
  EXPECT_EQ(to_terminal(result, Colour::off).find('\x1b'), std::string::npos);
  EXPECT_NE(to_terminal(result, Colour::on).find("\x1b[31mFAILED\x1b[0m"), std::string::npos);
}

}  // namespace
}  // namespace bitproof::conformance
