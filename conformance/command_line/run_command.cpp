#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conformance/command_line/commands.h"
#include "conformance/command_line/complain.h"
#include "conformance/command_line/exit_status.h"
#include "conformance/command_line/gate_services.h"
#include "conformance/command_line/record_table.h"
#include "conformance/command_line/terminal.h"
#include "conformance/elementwise/elementwise_plan.h"
#include "conformance/elementwise/one_element.h"
#include "conformance/gate/expectations.h"
#include "conformance/isolation/device_probe.h"
#include "conformance/mutants/reproducer.h"
#include "conformance/mutants/test_subjects.h"
#include "conformance/report/combine.h"
#include "conformance/report/durable_file.h"
#include "conformance/report/report_writer.h"
#include "conformance/report/shard.h"
#include "conformance/runner/host_environment.h"
#include "conformance/runner/plan.h"
#include "conformance/runner/runner.h"
#include "reference/environment.h"

namespace bitproof::conformance {
namespace {

struct RunOptions {
  Selection selection;
  std::string profile{reference::kPytorch211Cuda.name};
  std::uint64_t seed = 1;
  std::optional<std::string> shard;
  std::optional<std::uint64_t> block;
  std::optional<std::string> element;
  std::optional<std::string> report_directory;
  std::optional<std::filesystem::path> expectations;
  std::vector<std::string> required_devices;
  std::optional<std::int64_t> time_limit;  // seconds
  std::uint64_t memory_limit = 0;          // MiB
  bool in_process = false;
  bool resume = false;
  bool json = false;
};

bool has_device(const std::vector<PlannedCheck>& plan, const std::string& device) {
  const auto is_it = [&](const std::string& name) {
    return device == "cuda" || device == "emulated" ? name.starts_with(device) : name == device;
  };
  return std::ranges::any_of(plan, [&](const PlannedCheck& check) {
    return check.start && (is_it(check.record.device) ||
                           std::ranges::any_of(check.devices, is_it, &PlannedCheck::OnDevice::device));
  });
}

// The project's known mismatches are not where the executable was carried to alone.
Result<std::vector<Expectation>> expectations_for(const RunOptions& options) {
  if (options.expectations) return load_expectations(*options.expectations);
  const std::filesystem::path own = gate_services().expectations;
  if (!std::filesystem::exists(own)) return std::vector<Expectation>{};
  return load_expectations(own);
}

// DESIGN: `run` exits by the records whose device exists; one that cannot run fails where it was asked for by
// name.
int exit_status(const std::vector<PlannedCheck>& plan, const std::vector<Record>& records,
                const std::vector<Expectation>& expectations, const RunOptions& options) {
  const bool asked_by_name = options.selection.implementation.has_value() ||
                             (options.selection.device && *options.selection.device != "all");
  bool failed = false, could_not_run = false, tested = false;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const Record& record = records[i];
    tested |= record.tested > 0;
    failed |= contradicts(record, expectations);
    switch (record.verdict) {
      case Verdict::bit_exact:
      case Verdict::within_contract:
      case Verdict::known_mismatch:
      case Verdict::mismatch:
        break;
      case Verdict::refused:
        failed = true;
        break;
      case Verdict::error:
        could_not_run = true;
        break;
      case Verdict::not_run:
        could_not_run |= !plan[i].start && asked_by_name;
        break;
    }
  }
  for (const std::string& device : options.required_devices) {
    if (has_device(plan, device)) continue;
    could_not_run = true;
    fmt::print(stderr,
               "bitproof: --require {}: nothing of this run could run there; see `./bitproof list` for the "
               "devices of this machine\n",
               device);
  }
  if (failed) return kFailed;
  return could_not_run || !tested ? kCouldNotRun : kPassed;
}

// What there is to select from: this build's own, or mutants and planted faults where they are named.
std::vector<PlannedCheck> checks_for(const RunOptions& options, const reference::Profile& profile,
                                     const CudaDevices& devices, const std::optional<OneElement>& only) {
  std::vector<PlannedCheck> checks;
  if (options.selection.implementation && names_test_subjects(*options.selection.implementation)) {
    checks = plan_test_subjects(profile, options.seed, devices, only);
  } else if (only) {
    std::vector<ElementwiseImplementation> own = host_implementations();
    for (ElementwiseImplementation& implementation : device_implementations())
      own.push_back(std::move(implementation));
    checks = plan_implementations(profile, options.seed, devices.devices, own, only);
  } else {
    return all_checks(profile, options.seed, devices);
  }
  for (PlannedCheck& check : checks)
    if (!check.start) check.unavailable = devices.none_because;
  return checks;
}

// A program beside the report for every counterexample that has one.
void write_reproducers(const std::vector<Record>& records, const std::filesystem::path& directory,
                       bool people_read) {
  for (const Record& record : records)
    if (const std::optional<Reproducer> reproducer = reproducer_for(record)) {
      const std::filesystem::path file = directory / reproducer->file;
      if (const Result<Done> written = replace_file(file, reproducer->text); !written)
        fmt::print(stderr, "bitproof: {}\n", written.error().message());
      else if (people_read)
        fmt::print("reproducer: {}\n", file.string());
    }
}

int run(const RunOptions& options) {
  const auto profile = reference::find_profile(options.profile);
  if (!profile)
    return complain({ErrorKind::bad_argument, "is no known profile", "--profile " + options.profile,
                     fmt::format("use {}", reference::kPytorch211Cuda.name)});
  const Result<Shard> shard = resolve_shard(options.shard, process_environment());
  if (!shard) return complain(shard.error());
  if (const auto fault = reference::environment_fault()) {
    fmt::print(stderr, "bitproof: {}\n", *fault);
    return kCouldNotRun;
  }

  const CudaDevices devices = options.in_process ? find_cuda_devices() : probe_cuda_devices();
  std::optional<OneElement> only;
  if (options.element) {
    const Result<OneElement> parsed = parse_one_element(*options.element);
    if (!parsed) return complain(parsed.error());
    only = *parsed;
  }
  Result<std::vector<PlannedCheck>> plan =
      select(checks_for(options, *profile, devices, only), options.selection);
  if (!plan) return complain(plan.error());
  plan = shared_among_gpus(*std::move(plan));
  if (options.block) {
    for (const PlannedCheck& check : *plan)
      if (*options.block >= check.record.blocks_total)
        return complain({ErrorKind::bad_argument,
                         fmt::format("{} has {} blocks", label(check.record), check.record.blocks_total),
                         fmt::format("--block {}", *options.block),
                         "name one check and one of its blocks, counted from 0"});
  }

  const Result<std::vector<Expectation>> expectations = expectations_for(options);
  if (!expectations) return complain(expectations.error());
  const std::filesystem::path directory = options.report_directory
                                              ? std::filesystem::path(*options.report_directory)
                                              : std::filesystem::path("bitproof-reports") / fresh_report_name();

  Report report;
  report.environment = describe_environment(devices.devices);
  report.profile = profile->name;
  report.seed = options.seed;
  report.shard = *shard;
  for (const PlannedCheck& check : *plan) report.records.push_back(check.record);
  report.run_id = run_id_of(report);

  Result<ReportWriter> writer =
      options.resume ? ReportWriter::resume(directory, report) : ReportWriter::create(directory, report);
  if (!writer) return complain(writer.error());

  ProgressBar bar;
  RunnerOptions runner_options;
  runner_options.shard = *shard;
  runner_options.only_block = options.block;
  runner_options.isolated = !options.in_process;
  runner_options.memory_bytes = options.memory_limit << 20;
  if (options.time_limit) runner_options.time_limit = std::chrono::seconds(*options.time_limit);
  runner_options.progress = [&](std::size_t check, std::uint64_t done, std::uint64_t to_do) {
    bar.show(fmt::format("{} ({} of {})", label((*plan)[check].record), check + 1, plan->size()), done, to_do);
  };
  runner_options.conclude = [&](Record record) { return with_expectation(std::move(record), *expectations); };
  const bool people_read = !options.json;
  if (people_read) print_table_header();
  runner_options.finished = [&](const Record& record) {
    bar.clear();
    if (people_read) print_table_row(record, profile->name);
  };
  if (const Result<Done> done = run_plan(*plan, *writer, runner_options); !done) return complain(done.error());

  const Report finished = writer->snapshot();
  if (options.json) {
    fmt::print("{}", to_text(finished));
  } else {
    print_findings(finished.records);
    print_contradictions(finished.records, *expectations);
    print_summary(finished, writer->path());
  }
  write_reproducers(finished.records, directory, people_read);
  return exit_status(*plan, finished.records, *expectations, options);
}

}  // namespace

void add_run_command(CLI::App& app, int& status) {
  auto options = std::make_shared<RunOptions>();
  CLI::App* command =
      app.add_subcommand("run", "Check implementations against the reference and write a report");
  command->add_option("--op", options->selection.op, "Operator, name or glob");
  command->add_option("--dtype", options->selection.dtype, "bf16 or fp16 (fp32 for unit.*), name or glob");
  command->add_option("--impl", options->selection.implementation, "Implementation, name or glob");
  command->add_option("--domain", options->selection.domain, "Domain, name or glob");
  command->add_option("--device", options->selection.device,
                      "cpu, cuda, cuda:N, emulated, emulated:sm_NN, all (default: cpu and cuda)");
  command->add_option("--profile", options->profile, "Whose eager bits are the truth")->capture_default_str();
  command->add_option("--seed", options->seed, "Seed of random inputs and digests")->capture_default_str();
  command->add_option("--shard", options->shard,
                      "I/N: only this part of every domain (default: the scheduler's rank)");
  command->add_option("--block", options->block, "Only this block of the domain: reproduces a counterexample");
  command->add_option("--case", options->element,
                      "One small case instead of the domains: 1x16,0,3,x=0x3c00,bias=0x8000");
  command->add_option("--report", options->report_directory,
                      "Directory of the report (default: bitproof-reports/<time>-<pid>)");
  command->add_option("--expectations", options->expectations,
                      "Known mismatches (default: the project's, where they are)");
  command
      ->add_option(
          "--time-limit", options->time_limit,
          "Seconds that a block may take before the implementation counts as hanging (default: by domain)")
      ->check(CLI::Range(1, 86400));
  command
      ->add_option("--memory-limit", options->memory_limit,
                   "MiB that an implementation on the CPU may use (default: no limit)")
      ->check(CLI::Range(1, 1 << 24));
  command->add_flag("--in-process", options->in_process,
                    "No worker processes, for debuggers: a crash ends the run");
  command->add_flag("--resume", options->resume, "Continue the report in that directory");
  command->add_option("--require", options->required_devices,
                      "Fail (3) unless this device exists: cpu, cuda, cuda:N, emulated, emulated:sm_NN");
  command->add_flag("--json", options->json, "Print the report itself");
  command->callback([options, &status] { status = run(*options); });
}

}  // namespace bitproof::conformance
