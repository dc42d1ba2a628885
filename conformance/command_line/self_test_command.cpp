#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <random>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/command_line/commands.h"
#include "conformance/command_line/complain.h"
#include "conformance/command_line/exit_status.h"
#include "conformance/command_line/terminal.h"
#include "conformance/isolation/device_probe.h"
#include "conformance/mutants/self_test.h"
#include "conformance/report/report_writer.h"
#include "conformance/runner/host_environment.h"
#include "reference/environment.h"

namespace bitproof::conformance {
namespace {

struct Options {
  std::string device = "all";
  std::optional<std::uint64_t> fresh_seed;
  std::optional<std::int64_t> time_limit;
  std::optional<std::string> report_directory;
  bool json = false;
};

using Json = nlohmann::ordered_json;

Json to_json(const Survival& s) {
  Json json{
      {"operator", s.op}, {"dtype", s.dtype}, {"device", s.device}, {"killed", s.killed}, {"inputs", s.inputs}};
  if (s.killed) json.update({{"domain", s.domain}, {"how", s.how}});
  if (!s.error.empty()) json["error"] = s.error;
  return json;
}

Json to_json(const MutantResult& mutant) {
  const FaultInfo& info = info_of(mutant.fault);
  const Survival& first = mutant.trials.front();
  Json json{{"name", info.name},      {"does", info.does},      {"killed", mutant.killed()},
            {"domain", first.domain}, {"inputs", first.inputs}, {"mirrors", info.mirrors},
            {"source", info.source}};
  for (const Survival& trial : mutant.trials) json["trials"].push_back(to_json(trial));
  return json;
}

Json to_json(const SelfTestResult& result, const Options& options) {
  const MutationScore score = result.score();
  Json json{{"killed", score.killed},    {"total", score.total},      {"false_alarms", score.false_alarms},
            {"errors", result.errors()}, {"passed", result.passed()}, {"fresh_seed", *options.fresh_seed},
            {"seconds", result.seconds}};
  for (const MutantResult& mutant : result.mutants) json["mutants"].push_back(to_json(mutant));
  json["not_run"] = Json::array();
  for (const NotRun& left_out : result.not_run)
    json["not_run"].push_back({{"name", info_of(left_out.fault).name}, {"reason", left_out.reason}});
  for (const Survival& correct : result.unmutated) {
    Json entry{{"implementation", correct.implementation}};
    entry.update(to_json(correct));
    json["unmutated"].push_back(std::move(entry));
  }
  for (const Control& control : result.controls) {
    Json entry{
        {"what", control.what}, {"must_be_killed", control.must_be_killed}, {"holds", control.as_it_must()}};
    entry.update(to_json(control.survival));
    json["controls"].push_back(std::move(entry));
  }
  return json;
}

constexpr auto kRow = "{:<36} {:<5} {:<7} {:<9} {:<20} {:>14}  {}\n";

void print_row(const std::string& what, const Survival& s, bool right) {
  const char* const fate = s.killed ? "killed" : s.error.empty() ? "survived" : "error";
  fmt::print(kRow, what, s.dtype, s.device, coloured(fate, right && s.complete ? Ink::green : Ink::red, stdout),
             s.domain, std::to_string(s.inputs), s.error.empty() ? s.how : s.error);
}

void print_people(const SelfTestResult& result, const Options& options) {
  fmt::print(kRow, "mutant", "dtype", "device", "", "by domain", "after inputs", "shows as");
  for (const MutantResult& mutant : result.mutants)
    for (const Survival& trial : mutant.trials)
      print_row(std::string(info_of(mutant.fault).name), trial, trial.killed);
  fmt::print("\ncorrect implementations and controls\n");
  for (const Survival& correct : result.unmutated)
    print_row(correct.implementation + ' ' + correct.op, correct, !correct.killed);
  for (const Control& control : result.controls)
    print_row(control.what, control.survival, control.as_it_must());
  if (!result.not_run.empty()) fmt::print("\n");
  for (const NotRun& left_out : result.not_run)
    fmt::print("{}: {}: {}\n", coloured("not_run", Ink::yellow, stdout), info_of(left_out.fault).name,
               left_out.reason);
  const MutationScore score = result.score();
  const char* const outcome = result.passed() ? "PASSED" : result.failed() ? "FAILED" : "INCOMPLETE";
  const Ink ink = result.passed() ? Ink::green : result.failed() ? Ink::red : Ink::yellow;
  fmt::print("\n{}: {} among {} correct implementations, errors {}, controls {}; {:.1f} s, fresh seed {}\n",
             coloured(outcome, ink, stdout), in_words(score), result.unmutated.size(), result.errors(),
             result.controls_hold() ? "hold" : "FAIL", result.seconds, *options.fresh_seed);
}

// A report that says nothing but the score: what a gate asks for. It has none until the test is through; one
// that was interrupted is begun again.
Result<ReportWriter> start_report(const std::filesystem::path& directory, const CudaDevices& devices) {
  Report report;
  report.environment = describe_environment(devices.devices);
  report.profile = reference::kPytorch211Cuda.name;
  report.seed = SequenceSeeds{}.seed;
  report.run_id = run_id_of(report);
  Result<ReportWriter> writer = ReportWriter::resume(directory, std::move(report));
  if (writer && writer->snapshot().mutation_score)
    return Error{ErrorKind::occupied, "there is a report with a score already", directory.string(),
                 "name another directory with --report"};
  return writer;
}

int run(Options options) {
  if (const auto fault = reference::environment_fault()) {
    fmt::print(stderr, "bitproof: {}\n", *fault);
    return kCouldNotRun;
  }
  if (options.fresh_seed == SequenceSeeds{}.seed)
    return complain({ErrorKind::bad_argument, "is the seed of the other domains",
                     fmt::format("--fresh-seed {}", *options.fresh_seed),
                     "name another: what knows the inputs of one seed must meet others"});
  if (!options.fresh_seed) options.fresh_seed = std::random_device{}() | std::uint64_t{1} << 32;
  const CudaDevices devices = probe_cuda_devices();
  SelfTestOptions test;
  test.seeds.fresh = *options.fresh_seed;
  test.cpu = options.device == "all" || options.device == "cpu";
  test.no_gpu_because = options.device == "cpu" ? "only the CPU was asked for" : devices.none_because;
  if (options.time_limit) test.time_limit = std::chrono::seconds(*options.time_limit);
  for (const CudaDevice& device : devices.devices)
    if (!test.gpu && (options.device == "all" || options.device == "cuda" || options.device == device.label()))
      test.gpu = device;
  if (!test.cpu && !test.gpu) {
    if (!options.device.starts_with("cuda"))
      return complain({ErrorKind::bad_argument, "is no device", "--device " + options.device,
                       "use cpu, cuda, cuda:N or all"});
    fmt::print(
        stderr, "bitproof: {}: {}\n", options.device,
        devices.none_because.empty() ? "no such CUDA device; see `./bitproof list`" : devices.none_because);
    return kCouldNotRun;
  }

  std::optional<Result<ReportWriter>> report;
  if (options.report_directory) report = start_report(*options.report_directory, devices);
  if (report && !*report) return complain(report->error());

  ProgressBar bar;
  test.progress = [&bar](std::uint64_t done, std::uint64_t total) { bar.show("mutants", done, total); };
  const SelfTestResult result = run_self_test(test);
  bar.clear();
  options.json ? fmt::print("{}\n", to_json(result, options).dump(2)) : print_people(result, options);
  if (report && result.scored())
    if (const Result<Done> written = (*report)->update(result.score()); !written)
      return complain(written.error());
  if (report && !options.json)
    fmt::print("report: {}{}\n", (*report)->path().string(), result.scored() ? "" : ", without a score");
  if (result.failed()) return kFailed;
  return result.passed() ? kPassed : kCouldNotRun;
}

}  // namespace

void add_self_test_command(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(
      "selftest", "Runs implementations that are wrong in one known way: all must be caught");
  command->add_option("--device", options->device, "cpu, cuda, cuda:N, all")->capture_default_str();
  command->add_option("--fresh-seed", options->fresh_seed,
                      "Seed of the last domain (default: a new one each time)");
  command
      ->add_option("--time-limit", options->time_limit,
                   "Seconds that a block may take before the implementation counts as hanging")
      ->check(CLI::Range(1, 86400));
  command->add_option("--report", options->report_directory, "Write a report with the score, for the gate");
  command->add_flag("--json", options->json, "JSON instead of tables");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace bitproof::conformance
