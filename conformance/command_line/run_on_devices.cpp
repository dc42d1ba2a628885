#include "conformance/command_line/run_on_devices.h"

#include <algorithm>
#include <system_error>

#include <fmt/format.h>

#include "conformance/command_line/record_table.h"
#include "conformance/command_line/worker_processes.h"
#include "conformance/gate/load.h"
#include "conformance/report/report_writer.h"

namespace bitproof::conformance {
namespace {

constexpr int kFailed = 1, kBadUsage = 2, kCouldNotRun = 3;

Worker worker_for(const DeviceRun& run, const std::string& device, const std::string& shard) {
  Worker worker{device, {"run"}};
  worker.arguments.insert(worker.arguments.end(), run.arguments.begin(), run.arguments.end());
  const std::vector<std::string> own{"--device", device,     "--shard",
                                     shard,      "--report", (run.directory / device).string()};
  worker.arguments.insert(worker.arguments.end(), own.begin(), own.end());
  return worker;
}

int worst(const std::vector<WorkerExit>& exits) {
  const auto any = [&](int status) {
    return std::ranges::any_of(exits, [status](const WorkerExit& e) { return e.status == status; });
  };
  if (any(kFailed)) return kFailed;
  if (any(kBadUsage)) return kBadUsage;
  return std::ranges::all_of(exits, [](const WorkerExit& e) { return e.status == 0; }) ? 0 : kCouldNotRun;
}

}  // namespace

int run_on_devices(const DeviceRun& run) {
  std::vector<Worker> workers;
  for (std::size_t i = 0; i < run.gpus.size(); ++i)
    workers.push_back(worker_for(run, run.gpus[i], fmt::format("{}/{}", i, run.gpus.size())));
  for (const std::string& host : run.hosts) workers.push_back(worker_for(run, host, "0/1"));

  std::vector<std::filesystem::path> directories;
  for (const Worker& worker : workers) {
    std::error_code error;
    std::filesystem::create_directories(run.directory / worker.name, error);
    if (error) {
      fmt::print(stderr, "bitproof: {}: {}; name another directory with --report\n",
                 (run.directory / worker.name).string(), error.message());
      return kBadUsage;
    }
    directories.push_back(run.directory / worker.name);
  }

  const std::vector<WorkerExit> exits = run_workers(workers, run.directory);
  for (const WorkerExit& exit : exits)
    if (exit.status != 0)
      fmt::print(stderr, "bitproof: worker {}: {}; see {}\n", exit.name,
                 exit.reason.empty() ? fmt::format("exit status {}", exit.status) : exit.reason,
                 (run.directory / exit.name / "log").string());

  const LoadedReports loaded = load_reports(directories);
  for (const Error& error : loaded.errors) fmt::print(stderr, "bitproof: {}\n", error.message());
  for (const Finding& finding : loaded.merged.findings) fmt::print(stderr, "bitproof: {}\n", finding.message);
  const std::filesystem::path file = run.directory / kReportFile;
  if (const Result<Done> stored = store_report(file, loaded.merged.report); !stored) {
    fmt::print(stderr, "bitproof: {}\n", stored.error().message());
    return kBadUsage;
  }
  if (run.json) {
    fmt::print("{}", to_text(loaded.merged.report));
  } else {
    print_table_header();
    for (const Record& record : loaded.merged.report.records) print_table_row(record);
    print_findings(loaded.merged.report.records);
    print_summary(loaded.merged.report, file);
  }
  const int status = worst(exits);
  return status == 0 && (!loaded.errors.empty() || !loaded.merged.findings.empty()) ? kCouldNotRun : status;
}

}  // namespace bitproof::conformance
