#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conformance/command_line/commands.h"
#include "conformance/command_line/complain.h"
#include "conformance/command_line/exit_status.h"
#include "conformance/command_line/record_table.h"
#include "conformance/command_line/terminal.h"
#include "conformance/foreign/kernel_file.h"
#include "conformance/isolation/device_probe.h"
#include "conformance/isolation/worker_process.h"
#include "conformance/report/combine.h"
#include "conformance/report/report_writer.h"
#include "conformance/runner/host_environment.h"
#include "conformance/runner/runner.h"
#include "reference/environment.h"

namespace bitproof::conformance {
namespace {

struct CheckOptions {
  std::string file;
  ForeignRequestText request{.op = "", .dtype = "", .domains = ""};
  std::optional<std::string> device;
  LaunchText launch;
  std::string launch_file;
  std::vector<std::string> compiler_options;
  std::optional<std::uint64_t> block;
  std::optional<std::string> report_directory;
  std::optional<unsigned> time_limit;
  std::uint64_t memory_limit = 0;
  bool in_process = false;
  bool json = false;
};

int exit_status(const std::vector<Record>& records) {
  switch (worst_verdict(records)) {
    case Verdict::bit_exact:
    case Verdict::within_contract:
      return kPassed;
    case Verdict::error:
    case Verdict::not_run:
      // A mismatch outranks what could not run.
      return std::ranges::find(records, Verdict::mismatch, &Record::verdict) == records.end() ? kCouldNotRun
                                                                                              : kFailed;
    default:
      return kFailed;
  }
}

// A word of a command line for a shell.
std::string quoted(const std::string& word) {
  constexpr std::string_view kPlain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,%";
  if (!word.empty() && word.find_first_not_of(kPlain) == std::string::npos) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

// What runs the check again, but for domain and block.
std::string command_line(const CheckOptions& options) {
  std::string line = fmt::format("./bitproof check {} --op {} --dtype {} --seed {}", quoted(options.file),
                                 options.request.op, options.request.dtype, options.request.seed);
  const auto add = [&line](const char* option, const std::optional<std::string>& value) {
    if (value) line += fmt::format(" {} {}", option, quoted(*value));
  };
  const auto add_number = [&](const char* option, const std::optional<std::uint64_t>& value) {
    if (value) add(option, std::to_string(*value));
  };
  add("--device", options.device);
  if (options.request.profile != reference::kPytorch211Cuda.name) add("--profile", options.request.profile);
  if (options.request.equality != "bitwise") add("--equality", options.request.equality);
  if (!options.launch_file.empty()) add("--launch", options.launch_file);
  add("--entry", options.launch.entry);
  add("--arguments", options.launch.arguments);
  add("--threads", options.launch.threads);
  add("--grid", options.launch.grid);
  add_number("--shared-bytes", options.launch.shared_bytes);
  add_number("--width-multiple", options.launch.width_multiple);
  add_number("--alignment-bytes", options.launch.alignment_bytes);
  for (const std::string& option : options.compiler_options) add("--compiler-option", option);
  return line;
}

// Where the kernel is to run.
struct Place {
  std::optional<CudaDevice> device;  // none: the CPU, or no such device
  std::string unavailable;           // why there is no such device
};

Result<Place> find_place(const CheckOptions& options, KernelFileKind kind) {
  const bool library = kind == KernelFileKind::shared_library;
  const std::string label = options.device.value_or(library ? "cpu" : "cuda");
  if (label == "cpu") {
    if (library) return Place{};
    return Error{ErrorKind::bad_argument, fmt::format("does not run a {}", name(kind)), "--device cpu",
                 "leave it out, or name a GPU"};
  }
  if (label != "cuda" && !label.starts_with("cuda:"))
    return Error{ErrorKind::bad_argument, "is no device", "--device " + label, "use cpu, cuda or cuda:N"};
  const CudaDevices found = options.in_process ? find_cuda_devices() : probe_cuda_devices();
  for (const CudaDevice& device : found.devices)
    if (label == "cuda" || label == device.label()) return Place{device, ""};
  return Place{{},
               found.devices.empty()
                   ? found.none_because
                   : "no CUDA device " + label + "; see `./bitproof list` for those there are"};
}

// Unless domains were named: all of them, but on the CPU not the pairs, which take minutes.
std::string domains_or_all(const CheckOptions& options, const Place& place) {
  if (!options.request.domains.empty()) return options.request.domains;
  std::vector<std::string> domains = domains_of(options.request.op);
  if (domains.empty()) return "values";  // the operator is what will be complained about
  if (!place.device && place.unavailable.empty()) std::erase(domains, "pairs");
  return fmt::format("{}", fmt::join(domains, ","));
}

Result<ForeignKernel> kernel_at(const Place& place, const KernelFile& file, const KernelFileOptions& options) {
  if (place.unavailable.empty()) return open_kernel_file(file, options, place.device);
  if (const Result<Done> sense = require_sense(file, options); !sense) return sense.error();
  ForeignKernel absent;
  absent.name = file.path.filename().string();
  absent.location = Location::device;
  absent.unavailable = place.unavailable;
  return absent;
}

constexpr std::chrono::seconds kLoadingLimit{120};

// Why the kernel cannot be loaded, on one line; empty when it can.
std::string loading_fault(const ForeignKernel& kernel) {
  try {
    kernel.load ? static_cast<void>(kernel.load()) : static_cast<void>(kernel.load_linear());
    return "";
  } catch (const std::exception& failure) {
    std::string words = failure.what();
    std::ranges::replace(words, '\n', ' ');
    return words;
  }
}

// Loads the kernel once, in a process of its own, so that what is wrong with the file is said at once and not
// as the verdict of a record.
Result<Done> inspect(const CheckOptions& options, const ForeignKernel& kernel) {
  if (!kernel.load && !kernel.load_linear) return Done{};
  std::string fault;
  if (options.in_process) {
    fault = loading_fault(kernel);
  } else {
    const Result<std::vector<std::string>> answer =
        ask_child([&kernel](const SendLine& send) { send(loading_fault(kernel)); }, kLoadingLimit);
    fault = answer ? answer->empty() ? "" : answer->front() : "loading it: " + answer.error().what;
  }
  if (fault.empty()) return Done{};
  return Error{ErrorKind::bad_argument, fault, options.file, "see `./bitproof check --help`"};
}

int run_checks(const CheckOptions& options, const ForeignRequest& request, const Place& place,
               const std::vector<PlannedCheck>& plan) {
  Report report;
  report.environment =
      describe_environment(place.device ? std::vector<CudaDevice>{*place.device} : std::vector<CudaDevice>{});
  report.profile = request.profile.name;
  report.seed = request.seed;
  for (const PlannedCheck& check : plan) report.records.push_back(check.record);
  report.run_id = run_id_of(report);
  const std::filesystem::path directory = options.report_directory
                                              ? std::filesystem::path(*options.report_directory)
                                              : std::filesystem::path("bitproof-reports") / fresh_report_name();
  Result<ReportWriter> writer = ReportWriter::create(directory, report);
  if (!writer) return complain(writer.error());

  ProgressBar bar;
  RunnerOptions runner_options;
  runner_options.only_block = options.block;
  runner_options.isolated = !options.in_process;
  runner_options.memory_bytes = options.memory_limit << 20;
  if (options.time_limit) runner_options.time_limit = std::chrono::seconds(*options.time_limit);
  runner_options.progress = [&](std::size_t check, std::uint64_t done, std::uint64_t to_do) {
    bar.show(label(plan[check].record), done, to_do);
  };
  if (!options.json) print_table_header();
  runner_options.finished = [&](const Record& record) {
    bar.clear();
    if (!options.json) print_table_row(record, options.request.profile);
  };
  if (const Result<Done> done = run_plan(plan, *writer, runner_options); !done) return complain(done.error());

  const Report finished = writer->snapshot();
  if (options.json) {
    fmt::print("{}", to_text(finished));
  } else {
    print_findings(finished.records);
    print_models(finished.records);
    print_summary(finished, writer->path());
  }
  return exit_status(finished.records);
}

int check(CheckOptions options) {
  const Result<KernelFile> file = read_kernel_file(options.file);
  if (!file) return complain(file.error());
  const Result<Place> place = find_place(options, file->kind);
  if (!place) return complain(place.error());
  const std::string command = command_line(options);
  options.request.domains = domains_or_all(options, *place);
  const Result<ForeignRequest> request = parse_foreign_request(options.request, "--");
  if (!request) return complain(request.error());
  if (const auto fault = reference::environment_fault()) {
    fmt::print(stderr, "bitproof: {}\n", *fault);
    return kCouldNotRun;
  }
  const Result<ForeignKernel> kernel = kernel_at(*place, *file,
                                                 {.request = *request,
                                                  .launch = options.launch,
                                                  .launch_file = options.launch_file,
                                                  .compiler_options = options.compiler_options,
                                                  .command = command});
  if (!kernel) return complain(kernel.error());
  if (const Result<Done> loaded = inspect(options, *kernel); !loaded) return complain(loaded.error());
  const std::vector<PlannedCheck> plan = plan_foreign(*request, *kernel, place->device);
  for (const PlannedCheck& planned : plan)
    if (options.block && *options.block >= planned.record.blocks_total)
      return complain({ErrorKind::bad_argument,
                       fmt::format("{} has {} blocks", label(planned.record), planned.record.blocks_total),
                       fmt::format("--block {}", *options.block),
                       "name one domain and one of its blocks, counted from 0"});
  return run_checks(options, *request, *place, plan);
}

}  // namespace

void add_check_command(CLI::App& app, int& status) {
  auto options = std::make_shared<CheckOptions>();
  CLI::App* command = app.add_subcommand("check", "Check somebody else's kernel against a contract");
  command
      ->add_option(
          "FILE", options->file,
          "A shared library that exports bitproof_kernel (conformance/bitproof.h), or a kernel as .cu, .ptx "
          "or .cubin")
      ->required();
  command
      ->add_option("--op", options->request.op,
                   "Operator of the contract: bias_gelu_tanh, gelu_tanh, gelu_erf, silu, linear_gelu_tanh")
      ->required();
  command->add_option("--dtype", options->request.dtype, "bf16 or fp16")->required();
  command->add_option("--domain", options->request.domains,
                      "Domains, separated by commas (default: all; on the CPU all but pairs)");
  command->add_option("--device", options->device,
                      "cpu, cuda, cuda:N (default: cpu for a shared library, else cuda)");
  command->add_option("--profile", options->request.profile, "Whose eager bits are the truth")
      ->capture_default_str();
  command->add_option("--equality", options->request.equality, "bitwise, or ulp<=N")->capture_default_str();
  command->add_option("--seed", options->request.seed, "Seed of random inputs and digests")
      ->capture_default_str();
  command->add_option("--block", options->block, "Only this block of the domain: reproduces a counterexample");
  command->add_option("--report", options->report_directory,
                      "Directory of the report (default: bitproof-reports/<time>-<pid>)");
  command
      ->add_option("--time-limit", options->time_limit,
                   "Seconds that a block may take before the kernel counts as hanging (default: by domain)")
      ->check(CLI::Range(1, 86400));
  command
      ->add_option("--memory-limit", options->memory_limit,
                   "MiB that a kernel on the CPU may use (default: no limit)")
      ->check(CLI::Range(1, 1 << 24));
  command->add_flag("--in-process", options->in_process,
                    "No worker processes, for debuggers: a crash ends the check");
  command->add_flag("--json", options->json, "Print the report itself");

  command->add_option(
      "--launch", options->launch_file,
      "JSON with the options below (default: FILE with .json as its extension, if there is one; "
      "schema: conformance/launch.schema.json)");
  command->add_option(
      "--entry", options->launch.entry,
      "Symbol of the kernel; of a .cu file its name in C++ (default: the only one, or bitproof_kernel)");
  command->add_option("--arguments", options->launch.arguments,
                      "What its parameters are given, in order: input, bias, output, rows, width, elements, "
                      "input_stride, output_stride (default: input,bias,output,rows,width)");
  command->add_option("--threads", options->launch.threads,
                      "Threads of a block, X or X,Y or X,Y,Z (default: 256)");
  command->add_option(
      "--grid", options->launch.grid,
      "Blocks, each extent a number, rows, width, elements, or one of these over a number, rounded "
      "up (default: elements/THREADS)");
  command->add_option("--shared-bytes", options->launch.shared_bytes, "Dynamic shared memory of a block");
  command->add_option("--width-multiple", options->launch.width_multiple,
                      "It serves multiples of this width only");
  command->add_option("--alignment-bytes", options->launch.alignment_bytes,
                      "Alignment that it needs of its tensors");
  command
      ->add_option("--compiler-option", options->compiler_options, "Of the run-time compiler, for a .cu file")
      ->allow_extra_args(false);
  command->callback([options, &status] { status = check(*options); });
}

}  // namespace bitproof::conformance
