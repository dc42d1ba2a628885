// The executable as its users meet it: exit status, what it prints and where.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "conformance/report/report.h"
#include "conformance/runner/build_info.h"
#include "tests/conformance/report/samples.h"
#include "tests/conformance/report/schema.h"

namespace bitproof::conformance {
namespace {

using testing::TemporaryDirectory;

struct Outcome {
  int status = -1;
  std::string out, err;
};

class CommandLine : public ::testing::Test {
 protected:
  // Runs the executable with `arguments`, as a shell reads them, in a directory of its own; no GPU is visible
  // to it, nor a scheduler's rank.
  Outcome bitproof(const std::string& arguments) const {
    const std::filesystem::path out = directory_.path() / "out", err = directory_.path() / "err";
    const std::string command =
        "cd '" + directory_.path().string() +
        "' && CUDA_VISIBLE_DEVICES= env -u SLURM_ARRAY_TASK_ID -u OMPI_COMM_WORLD_RANK -u PMI_RANK "
        "'" BITPROOF_EXECUTABLE "' " +
        arguments + " >out 2>err </dev/null";
    const int raw = std::system(command.c_str());
    return {WIFEXITED(raw) ? WEXITSTATUS(raw) : -1, testing::read_text(out), testing::read_text(err)};
  }

  // One line of words about `mention` with `remedy`, status 2, and nothing else.
  void expect_usage_error(const std::string& arguments, const std::string& mention,
                          const std::string& remedy) const {
    const Outcome outcome = bitproof(arguments);
    EXPECT_EQ(outcome.status, 2) << arguments;
    EXPECT_EQ(outcome.out, "") << arguments;
    EXPECT_TRUE(outcome.err.starts_with("bitproof: ")) << arguments << ": " << outcome.err;
    EXPECT_EQ(std::ranges::count(outcome.err, '\n'), 1) << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(mention), std::string::npos) << arguments << ": " << outcome.err;
    EXPECT_NE(outcome.err.find(remedy), std::string::npos) << arguments << ": " << outcome.err;
  }

  std::filesystem::path in_directory(const std::string& name) const { return directory_.path() / name; }

 private:
  TemporaryDirectory directory_;
};

// One check that takes a moment.
const std::string kQuick = "run --op gelu_tanh --dtype fp16 --impl host.fused --domain values ";

TEST_F(CommandLine, RunNamesWhatItDoesNotKnow) {
  expect_usage_error("run --op relu", "--op relu", "use one of bias_gelu_tanh, gelu_tanh");
  expect_usage_error("run --dtype fp64", "--dtype fp64", "use one of bf16, fp16");
  expect_usage_error("run --impl host.slow", "--impl host.slow", "host.fused");
  expect_usage_error("run --domain everything", "--domain everything", "pairs_factored");
  expect_usage_error("run --device tpu", "--device tpu",
                     "use one of cpu, cuda, cuda:N, emulated, emulated:sm_NN, all");
  expect_usage_error("run --profile numpy", "--profile numpy", "pytorch-2.11-cuda");
  expect_usage_error("run --op gelu_tanh --domain pairs", "no check matches all of them", "./bitproof list");
}

TEST_F(CommandLine, RunRefusesMalformedNumbers) {
  expect_usage_error(kQuick + "--shard 4/4", "--shard 4/4", ";");
  expect_usage_error(kQuick + "--shard half", "--shard half", ";");
  expect_usage_error(kQuick + "--seed twelve", "--seed", "see `./bitproof run --help`");
  expect_usage_error(kQuick + "--block 1", "has 1 blocks", "counted from 0");
}

TEST_F(CommandLine, RunRefusesADirectoryItCannotWriteTo) {
  // Below a regular file nobody, root included, can make a directory.
  testing::write_text(in_directory("file"), "content");
  expect_usage_error(kQuick + "--report file/report", "file/report", ";");
  EXPECT_EQ(testing::read_text(in_directory("file")), "content");
}

TEST_F(CommandLine, RunRefusesADirectoryThatHoldsAReport) {
  ASSERT_EQ(bitproof(kQuick + "--report r").status, 0);
  const std::string before = testing::read_text(in_directory("r/report.json"));
  expect_usage_error(kQuick + "--report r", "r", "--resume");
  EXPECT_EQ(testing::read_text(in_directory("r/report.json")), before);
}

TEST_F(CommandLine, UnknownOptionsAndCommandsPointToTheHelp) {
  expect_usage_error("run --opp gelu_tanh", "--opp", "see `./bitproof run --help`");
  expect_usage_error("", "a command is needed", "see `./bitproof --help`");
  expect_usage_error("fly", "fly is no command", "see `./bitproof --help`");
  expect_usage_error("trace --op gelu_tanh --dtype fp16", "--x", "see `./bitproof trace --help`");
}

TEST_F(CommandLine, HelpIsNoError) {
  for (const char* const arguments : {"--help", "run --help", "trace --help", "list --help"}) {
    const Outcome outcome = bitproof(arguments);
    EXPECT_EQ(outcome.status, 0);
    EXPECT_FALSE(outcome.out.empty());
    EXPECT_EQ(outcome.err, "");
  }
}

TEST_F(CommandLine, TraceRefusesWhatItCannotRead) {
  for (const char* const text : {"0xzz", "0x12345", "0x", "banana", "0x12g", "+1"})
    expect_usage_error("trace --op gelu_tanh --dtype fp16 --x " + std::string(text), "--x " + std::string(text),
                       "give one to four hexadecimal digits, as in 0xb5a7");
  expect_usage_error("trace --op bias_gelu_tanh --dtype fp16 --x 1 --bias 0xq", "--bias 0xq", "hexadecimal");
  expect_usage_error("trace --op relu --dtype fp16 --x 1", "--op relu",
                     "use bias_gelu_tanh, gelu_tanh, gelu_erf or silu");
  expect_usage_error("trace --op gelu_tanh --dtype fp64 --x 1", "--dtype fp64", "use bf16 or fp16");
  expect_usage_error("trace --op bias_gelu_tanh --dtype fp16 --x 1", "needs a bias", "add --bias");
  expect_usage_error("trace --op gelu_tanh --dtype fp16 --x 1 --bias 1", "has no bias", "leave --bias out");
  expect_usage_error("trace --op gelu_tanh --dtype fp16 --x 1 --profile x", "--profile x", "pytorch-2.11-cuda");
}

TEST_F(CommandLine, TraceGivesTheBitsOfEveryStep) {
  const Outcome outcome = bitproof("trace --op bias_gelu_tanh --dtype fp16 --x 0xb5a7 --bias 0x8000 --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  EXPECT_EQ(json["result"], "0xb018");
  EXPECT_EQ(json["operator"], "bias_gelu_tanh");
  EXPECT_EQ(json["dtype"], "fp16");
  EXPECT_EQ(json["profile"], "pytorch-2.11-cuda");
  ASSERT_GT(json["steps"].size(), 10u);
  EXPECT_EQ(json["steps"].front()["name"], "x");
  EXPECT_EQ(json["steps"].front()["bits"], "0xb5a7");
  EXPECT_EQ(json["steps"].back()["bits"], "0xb018");
  std::vector<std::string> names;
  for (const auto& step : json["steps"]) names.push_back(step["name"]);
  for (const char* const wanted : {"bias", "sum", "rounded sum", "u", "gelu", "result"})
    EXPECT_NE(std::ranges::find(names, wanted), names.end()) << wanted;
}

TEST_F(CommandLine, TraceReadsBitsWithAndWithoutPrefix) {
  const std::string options = "trace --json --op gelu_tanh --dtype bf16 --x ";
  EXPECT_EQ(nlohmann::json::parse(bitproof(options + "0x3f80").out)["result"], "0x3f57");
  EXPECT_EQ(nlohmann::json::parse(bitproof(options + "3F80").out)["result"], "0x3f57");
  // Numbers that JSON lacks.
  EXPECT_EQ(nlohmann::json::parse(bitproof(options + "0xff80").out)["result"], "0x7fff");
}

TEST_F(CommandLine, TracePrintsATableForPeople) {
  const Outcome outcome = bitproof("trace --op gelu_tanh --dtype bf16 --x 3f80");
  EXPECT_EQ(outcome.status, 0);
  EXPECT_NE(outcome.out.find("nearest tie"), std::string::npos);
  EXPECT_NE(outcome.out.find("0x3f57"), std::string::npos);
  EXPECT_EQ(outcome.out.find('\x1b'), std::string::npos) << "colours are for terminals";
}

TEST_F(CommandLine, RunPassesWhatIsRightAndWritesItsReport) {
  const Outcome outcome = bitproof(kQuick + "--report r");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.err, "");
  EXPECT_NE(outcome.out.find("65536/65536 values"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("bit_exact"), std::string::npos);
  const Result<Report> report = parse_report(in_directory("r"));
  ASSERT_TRUE(report);
  EXPECT_EQ(report->records.size(), 1u);
}

TEST_F(CommandLine, RunNamesAFreshDirectoryForItsReport) {
  ASSERT_EQ(bitproof(kQuick).status, 0);
  ASSERT_EQ(bitproof(kQuick).status, 0);
  std::size_t reports = 0;
  for (const auto& entry : std::filesystem::directory_iterator(in_directory("bitproof-reports"))) {
    reports += 1;
    EXPECT_TRUE(std::filesystem::exists(entry.path() / "report.json"));
  }
  EXPECT_EQ(reports, 2u);
}

TEST_F(CommandLine, RunAsJsonPrintsTheReportItself) {
  const Outcome outcome = bitproof(kQuick + "--json --report r");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  EXPECT_EQ(outcome.out, testing::read_text(in_directory("r/report.json")));
  const auto json = nlohmann::json::parse(outcome.out);
  const auto schema = nlohmann::json::parse(testing::read_text(BITPROOF_SCHEMAS "/report.schema.json"));
  EXPECT_EQ(testing::violation(schema, json), "");
  ASSERT_EQ(json["records"].size(), 1u);
  const auto& record = json["records"][0];
  EXPECT_EQ(record["operator"], "gelu_tanh");
  EXPECT_EQ(record["dtype"], "fp16");
  EXPECT_EQ(record["implementation"], "host.fused");
  EXPECT_EQ(record["domain"], "values");
  EXPECT_EQ(record["device"], "cpu");
  EXPECT_EQ(record["tested"], 65536);
  EXPECT_EQ(record["total"], 65536);
  EXPECT_EQ(record["mismatches"], 0);
  EXPECT_EQ(record["verdict"], "bit_exact");
}

TEST_F(CommandLine, RunLeavesAnAbsentDeviceOutUnlessItWasAskedFor) {
  const std::string values = "run --op gelu_tanh --dtype bf16 --domain values ";
  const Outcome outcome = bitproof(values + "--json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::size_t not_run = 0;
  const auto report = nlohmann::json::parse(outcome.out);
  for (const auto& record : report["records"])
    if (record["verdict"] == "not_run") {
      ++not_run;
      EXPECT_TRUE(record["reason"].get<std::string>().starts_with("no CUDA device: ")) << record["reason"];
    }
  EXPECT_GE(not_run, 3u);
  EXPECT_EQ(bitproof(values + "--device all").status, 0);
  EXPECT_EQ(bitproof(values + "--require cuda").status, 3);
  const Outcome missing = bitproof(values + "--require cuda:99");
  EXPECT_EQ(missing.status, 3);
  EXPECT_NE(missing.err.find("bitproof: --require cuda:99: nothing of this run could run there"),
            std::string::npos)
      << missing.err;
  EXPECT_EQ(bitproof(values + "--require cpu").status, 0);
  EXPECT_EQ(bitproof(values + "--impl cuda.fused").status, 3);
  EXPECT_EQ(bitproof(values + "--device cuda").status, 3);
  EXPECT_EQ(bitproof(values + "--device cuda:99").status, 3);
}

TEST_F(CommandLine, PlantedFaultsBecomeErrorsAndTheReportIsWhole) {
  const Outcome outcome =
      bitproof("run --impl 'planted.[ace]*' --op gelu_tanh --dtype bf16 --domain values --report r");
  EXPECT_EQ(outcome.status, 3) << outcome.err;
  const Result<Report> report = parse_report(in_directory("r"));
  ASSERT_TRUE(report) << report.error().message();
  ASSERT_EQ(report->records.size(), 3u);
  for (const Record& record : report->records) EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(report->records[0].reason, "block 0: the worker ended by signal 11, segmentation fault");
  EXPECT_EQ(report->records[1].reason, "block 0: the worker ended by signal 6, aborted");
  EXPECT_EQ(report->records[2].reason, "block 0: the worker exited before it was done");
}

TEST_F(CommandLine, AMutantIsDiagnosedShrunkAndReproduced) {
  const std::string mutant = "run --impl mutant.fma_tail --op gelu_tanh --dtype bf16 ";
  const Outcome outcome = bitproof(mutant + "--domain values --report r");
  EXPECT_EQ(outcome.status, 1) << outcome.err;
  EXPECT_NE(outcome.out.find("differs exactly as a kernel that computes fma(s, v, s)"), std::string::npos)
      << outcome.out;
  EXPECT_TRUE(std::filesystem::exists(in_directory("r") / "gelu_tanh-bf16-mutant.fma_tail-values.cpp"));
  const Result<Report> report = parse_report(in_directory("r"));
  ASSERT_TRUE(report && report->records[0].first && report->records[0].first->smallest);
  const SmallestCase& smallest = *report->records[0].first->smallest;
  // The command that the report gives, run: it fails in the same way.
  const std::string command = smallest.reproduce.substr(std::string("./bitproof ").size());
  const Outcome again = bitproof(command + " --json");
  EXPECT_EQ(again.status, 1) << again.err;
  const auto record = nlohmann::json::parse(again.out)["records"][0];
  EXPECT_EQ(record["first"]["got"], smallest.got);
  EXPECT_EQ(record["first"]["expected"], smallest.expected);
}

TEST_F(CommandLine, RunRefusesMalformedCases) {
  expect_usage_error("run --case 1x16,0,3,x=3c00", "--case 1x16,0,3,x=3c00", "as in 1x16,0,3,x=0x3c00");
  expect_usage_error("run --case 99x16,0,3,x=0x3c00", "outside 1x1 to 64x64", "ROWSxWIDTH");
}

TEST_F(CommandLine, SelfTestRefusesWhatIsNoDeviceAndAnAbsentOne) {
  expect_usage_error("selftest --device tpu", "--device tpu", "cpu, cuda, cuda:N or all");
  EXPECT_EQ(bitproof("selftest --device cuda").status, 3);
}

TEST_F(CommandLine, SelfTestRefusesTheSeedOfTheOtherDomainsAndWhatIsNoDirectoryBeforeItRuns) {
  expect_usage_error("selftest --fresh-seed 1", "--fresh-seed 1", "name another");
  std::ofstream(in_directory("file")) << "no directory\n";
  const Outcome outcome = bitproof("selftest --device cpu --report file/r");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("file/r"), std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.out, "");
}

TEST_F(CommandLine, SelfTestReplacesNoScore) {
  ASSERT_EQ(bitproof(kQuick + "--report run").status, 0);
  EXPECT_EQ(bitproof("selftest --device cpu --report run").status, 2) << "a report of something else";
  Report report = *parse_report(in_directory("run"));
  report.records.clear();
  report.mutation_score = MutationScore{47, 48, 0};
  std::filesystem::create_directory(in_directory("scored"));
  ASSERT_TRUE(store_report(in_directory("scored") / kReportFile, report));
  const Outcome outcome = bitproof("selftest --device cpu --report scored");
  EXPECT_EQ(outcome.status, 2);
  EXPECT_NE(outcome.err.find("scored: there is a report with a score already"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(parse_report(in_directory("scored"))->mutation_score, report.mutation_score);
  EXPECT_NE(bitproof("show scored").out.find("47 of 48 mutants killed, 0 false alarms"), std::string::npos);
}

TEST_F(CommandLine, ARunThatTestedNothingDoesNotPass) {
  // values has one block; the first of two shards has none of it.
  EXPECT_EQ(bitproof(kQuick + "--shard 0/2").status, 3);
  EXPECT_EQ(bitproof(kQuick + "--shard 1/2").status, 0);
}

TEST_F(CommandLine, AResumedRunKeepsWhatWasFinished) {
  ASSERT_EQ(bitproof(kQuick + "--report r").status, 0);
  const Result<Report> before = parse_report(in_directory("r"));
  EXPECT_EQ(bitproof(kQuick + "--report r --resume").status, 0);
  const Result<Report> after = parse_report(in_directory("r"));
  ASSERT_TRUE(before && after);
  EXPECT_EQ(after->records, before->records);
  // With another seed it is another run.
  expect_usage_error(kQuick + "--report r --resume --seed 2", "r", ";");
}

TEST_F(CommandLine, OneBlockReproducesItself) {
  const Outcome outcome = bitproof(kQuick + "--block 0 --json");
  EXPECT_NE(outcome.out.find("only block 0 was asked for; it shows no difference"), std::string::npos);
}

std::vector<std::string> names_of(const nlohmann::json& entries) {
  std::vector<std::string> names;
  for (const auto& entry : entries) names.push_back(entry.is_string() ? entry : entry["name"]);
  return names;
}

void expect_all(const std::vector<std::string>& names, const std::vector<std::string>& wanted) {
  for (const std::string& name : wanted) EXPECT_NE(std::ranges::find(names, name), names.end()) << name;
}

TEST_F(CommandLine, BenchRefusesWhatItCannotTime) {
  expect_usage_error("bench --op gelu_tanh --write-dispatch d.json", "nothing to dispatch", "linear_gelu_tanh");
  expect_usage_error("bench --op linear_gelu_tanh --shape 512x12288", "match nothing", "ROWSxDEPTHxCOLUMNS");
  expect_usage_error("bench --shape 512x3072x12287", "multiples of 8", "ROWSxDEPTHxCOLUMNS");
  expect_usage_error("bench --shape 0x8x8", "no layer", "ROWSxDEPTHxCOLUMNS");
}

TEST_F(CommandLine, BenchWithoutAGpuDoesNotWriteADispatchTable) {
  const Outcome outcome = bitproof("bench --op linear_gelu_tanh --write-dispatch dispatch.json");
  EXPECT_EQ(outcome.status, 3);
  EXPECT_NE(outcome.err.find("not_run: no CUDA device"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(in_directory("dispatch.json")));
}

TEST_F(CommandLine, RunChecksLinearGeluWithoutAGpu) {
  const Outcome outcome = bitproof("run --op linear_gelu_tanh --domain values --report report --json");
  EXPECT_EQ(outcome.status, 0) << outcome.err;
  std::size_t exact = 0, not_run = 0;
  const auto report = nlohmann::json::parse(outcome.out);
  for (const auto& record : report["records"]) {
    exact += record["verdict"] == "bit_exact" && record["implementation"] == "host.eager" ? 1u : 0u;
    not_run += record["verdict"] == "not_run" ? 1u : 0u;
  }
  EXPECT_EQ(exact, 2u);
  EXPECT_EQ(not_run, 6u) << "cuda.eager, and cuda.cublaslt under two profiles, in two dtypes";
}

TEST_F(CommandLine, ListSaysWhatThereIs) {
  const Outcome outcome = bitproof("list --json");
  ASSERT_EQ(outcome.status, 0) << outcome.err;
  const auto json = nlohmann::json::parse(outcome.out);
  expect_all(names_of(json["operators"]), {"bias_gelu_tanh", "gelu_tanh"});
  expect_all(names_of(json["implementations"]), {"host.fused", "reference", "cuda.fused", "cuda.eager"});
  expect_all(names_of(json["domains"]),
             {"values", "pairs", "pairs_factored", "boundary", "random", "production", "layout"});
  expect_all(names_of(json["devices"]), {"cpu"});
  expect_all(names_of(json["architectures"]), {"x86_64"});
  if (kBuiltWithCuda)
    expect_all(names_of(json["architectures"]),
               {"sm_80", "sm_86", "sm_89", "sm_90", "sm_100", "sm_103", "sm_120"});
  for (const auto& architecture : json["architectures"])
    EXPECT_EQ(architecture["machine_code_key"].get<std::string>().size(), 64u);
}

TEST_F(CommandLine, ListPrintsTheSameForPeople) {
  const Outcome outcome = bitproof("list");
  EXPECT_EQ(outcome.status, 0);
  for (const char* const text :
       {"operators", "bias_gelu_tanh", "host.fused", "no CUDA device", "machine-code keys"})
    EXPECT_NE(outcome.out.find(text), std::string::npos) << text;
  // As --device takes it, or why there is none.
  const bool emulates = outcome.out.find("\n  emulated:sm_120  sm_120 (its machine code") != std::string::npos;
  EXPECT_NE(emulates, outcome.out.find("\n  no machine code: nvdisasm") != std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace bitproof::conformance
