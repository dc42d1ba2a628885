// Exit status and streams of gate, merge and show: 0 passed, 1 failed, 2 unreadable input.
#include <gtest/gtest.h>

#include "conformance/report/report.h"
#include "tests/conformance/gate/world.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using testing::GateRun;
using testing::green_world;
using testing::run_command;
using testing::run_gate;
using testing::TemporaryDirectory;
using testing::World;

std::string write(const TemporaryDirectory& directory, const std::string& name, const std::string& text) {
  std::filesystem::create_directories((directory.path() / name).parent_path());
  testing::write_text(directory.path() / name, text);
  return (directory.path() / name).string();
}

TEST(GateCommand, ADamagedReportIsStatus2WithThePlace) {
  const GateRun run = run_gate(green_world(), {"--json"}, [](std::string text) {
    return text.replace(text.find("\"tested\":65536"), 14, "\"tested\":65535");
  });
  EXPECT_EQ(run.status, 2);
  bool named = false;
  for (const auto& finding : run.json["findings"]) {
    if (finding["kind"] != "unreadable") continue;
    const std::string message = finding["message"];
    named = message.find("gpu.json, /records/0") != std::string::npos &&
            message.find("run again") != std::string::npos;
  }
  EXPECT_TRUE(named) << run.out;
}

TEST(GateCommand, ATruncatedOrMissingReportIsStatus2) {
  EXPECT_EQ(run_gate(green_world(), {"--json"}, [](std::string text) { return text.substr(0, 1000); }).status,
            2);
  const TemporaryDirectory directory;
  const std::string policy = write(directory, "p.json", green_world().policy.dump());
  const GateRun run = run_command({"gate", "/nonexistent", "--policy", policy}, green_world());
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.out.find("/nonexistent"), std::string::npos);
}

TEST(GateCommand, AnUnreadablePolicyOrExpectationIsStatus2AndSaysSoInJsonToo) {
  World policy = green_world(), expectations = green_world();
  policy.policy["required"][0]["domain"] = "values";
  expectations.expectations["expectations"][0].erase("digest");
  for (const World* world : {&policy, &expectations}) {
    const GateRun run = run_gate(*world);
    EXPECT_EQ(run.status, 2);
    EXPECT_EQ(run.json["passed"], false);
    EXPECT_EQ(run.json["findings"][0]["kind"], "unreadable");
    EXPECT_NE(run.err.find("bitproof gate: "), std::string::npos);
    EXPECT_EQ(std::count(run.err.begin(), run.err.end(), '\n'), 1) << run.err;
  }
}

TEST(GateCommand, WritesItsOutputs) {
  const TemporaryDirectory directory;
  const std::string junit = (directory.path() / "j.xml").string(),
                    markdown = (directory.path() / "m.md").string();
  const GateRun run =
      run_gate(green_world(), {"--junit", junit, "--markdown", markdown, "--annotations", "github"});
  EXPECT_EQ(run.status, 0) << run.err;
  EXPECT_NE(testing::read_text(junit).find("<testsuites"), std::string::npos);
  EXPECT_NE(testing::read_text(markdown).find("All 6 required records passed"), std::string::npos);
  EXPECT_NE(run.out.find("::notice title=bitproof gate::compiled only"), std::string::npos) << run.out;
}

TEST(GateCommand, AnOutputThatCannotBeWrittenIsStatus2) {
  const GateRun run = run_gate(green_world(), {"--junit", "/proc/bitproof/junit.xml"});
  EXPECT_EQ(run.status, 2);
  EXPECT_NE(run.err.find("/proc/bitproof/junit.xml"), std::string::npos) << run.err;
}

TEST(GateCommand, FindsReportsInDirectoriesAtAnyDepth) {
  const World world = green_world();
  const TemporaryDirectory directory;
  write(directory, "artifacts/report-x/report.json", to_text(world.cpu_first));
  write(directory, "artifacts/deeper/report-y/report.json", to_text(world.cpu_second));
  const std::string gpu = write(directory, "gpu/report.json", to_text(world.gpu));
  const std::string policy = write(directory, "p.json", world.policy.dump());
  const std::string known = write(directory, "e.json", world.expectations.dump());
  const GateRun run =
      run_command({"gate", (directory.path() / "artifacts").string(), (directory.path() / "gpu").string(),
                   "--policy", policy, "--expectations", known},
                  world);
  EXPECT_EQ(run.status, 0) << run.out << run.err;
}

TEST(MergeCommand, MergesWhatTheGateThenAccepts) {
  World world = green_world();
  const TemporaryDirectory directory;
  const std::string a = write(directory, "a.json", to_text(world.cpu_first)),
                    b = write(directory, "b.json", to_text(world.cpu_second)),
                    c = write(directory, "c.json", to_text(world.gpu)),
                    out = (directory.path() / "all.json").string();
  const GateRun run = run_command({"merge", c, b, a, "--output", out}, world);
  ASSERT_EQ(run.status, 0) << run.err;
  EXPECT_NE(run.out.find("6 records from 3 reports"), std::string::npos) << run.out;
  const Result<Report> merged = parse_report(out);
  ASSERT_TRUE(merged) << merged.error().message();
  EXPECT_EQ(merged->sources.size(), 3u);

  const std::string policy = write(directory, "p.json", world.policy.dump()),
                    known = write(directory, "e.json", world.expectations.dump());
  EXPECT_EQ(run_command({"gate", out, "--policy", policy, "--expectations", known}, world).status, 0);
}

TEST(MergeCommand, WritesNothingWhenAShardIsMissing) {
  const World world = green_world();
  const TemporaryDirectory directory;
  const std::string a = write(directory, "a.json", to_text(world.cpu_first)),
                    out = (directory.path() / "all.json").string();
  const GateRun run = run_command({"merge", a, "--output", out}, world);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.err.find("shard_missing"), std::string::npos) << run.err;
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(MergeCommand, AnUnreadableReportIsStatus2) {
  const TemporaryDirectory directory;
  const std::string a = write(directory, "a.json", "{}"), out = (directory.path() / "all.json").string();
  EXPECT_EQ(run_command({"merge", a, "--output", out}, green_world()).status, 2);
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(ShowCommand, PrintsTheCounterexampleWithItsBits) {
  World world = green_world();
  const TemporaryDirectory directory;
  const std::string file = write(directory, "gpu.json", to_text(world.gpu));
  const GateRun run = run_command({"show", file}, world);
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("mismatch"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("expected  "), std::string::npos) << run.out;
  EXPECT_NE(run.out.find(world.known_wrong().first->reproduce), std::string::npos) << run.out;
  EXPECT_EQ(run.out.find('\x1b'), std::string::npos) << "colours, though this is no terminal";
}

TEST(ShowCommand, WritesAPageOrJson) {
  World world = green_world();
  const TemporaryDirectory directory;
  const std::string file = write(directory, "gpu.json", to_text(world.gpu)),
                    html = (directory.path() / "p.html").string();
  EXPECT_EQ(run_command({"show", file, "--html", html}, world).status, 0);
  EXPECT_TRUE(testing::read_text(html).starts_with("<!doctype html>"));
  const GateRun run = run_command({"show", file, "--json"}, world);
  EXPECT_EQ(*parse_report_text(run.out, "stdout"), world.gpu);
}

TEST(ShowCommand, AnUnreadableReportIsStatus2WithOneLine) {
  const GateRun run = run_command({"show", "/nonexistent"}, green_world());
  EXPECT_EQ(run.status, 2);
  EXPECT_EQ(
      run.err,
      "bitproof show: /nonexistent: cannot be read; name a report.json or the directory that holds one\n");
}

}  // namespace
}  // namespace bitproof::conformance
