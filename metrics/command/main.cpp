// `bitproof frames A B`: the reports watch the comparison, the outcome decides the exit status.
#include <exception>
#include <fstream>
#include <iostream>
#include <memory>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <malloc.h>
#include <opencv2/core/utils/logger.hpp>

#include "metrics/command/options.h"
#include "metrics/compare/comparison.h"
#include "metrics/report/csv.h"
#include "metrics/report/html.h"
#include "metrics/report/json.h"
#include "metrics/report/terminal.h"

namespace bitproof::metrics {
namespace {

constexpr int kBadUsage = 2, kCouldNotRun = 3;
constexpr int kStandardOutput = 1, kStandardError = 2;

// Every packet and frame is allocated and freed. Handing megabytes back to the kernel each time makes it clear
// them for the next one, which costs more than the comparison does; the peak is the same.
void keep_freed_memory() {
  constexpr int kPacketAndMore = 64 << 20;
  mallopt(M_MMAP_THRESHOLD, kPacketAndMore);
  mallopt(M_TRIM_THRESHOLD, 4 * kPacketAndMore);
}

// A report that goes to a file.
template <class Report>
struct FileReport {
  std::ofstream stream;
  Report report;

  explicit FileReport(const std::string& path) : stream(path, std::ios::binary), report(stream) {}
};

int run(const Command& command) {
  std::vector<Observer*> observers;
  std::unique_ptr<FileReport<CsvReport>> csv;
  std::unique_ptr<FileReport<HtmlReport>> html;
  if (command.csv) observers.push_back(&(csv = std::make_unique<FileReport<CsvReport>>(*command.csv))->report);
  if (command.html)
    observers.push_back(&(html = std::make_unique<FileReport<HtmlReport>>(*command.html))->report);
  if ((csv && !csv->stream) || (html && !html->stream)) {
    fmt::print(stderr, "bitproof frames: cannot write {}\n",
               csv && !csv->stream ? *command.csv : *command.html);
    return kBadUsage;
  }
  JsonReport json(std::cout);
  if (command.json) observers.push_back(&json);
  ProgressBar progress;
  if (is_terminal(kStandardError)) observers.push_back(&progress);

  const Outcome outcome = compare(command.request, observers);
  if (!command.json) std::cout << terminal_report(outcome, wants_colour(kStandardOutput));
  std::cout.flush();
  const bool written = std::cout && (!csv || csv->stream) && (!html || html->stream);
  if (!written) fmt::print(stderr, "bitproof frames: a report could not be written in full\n");
  return written ? outcome.exit_status() : kBadUsage;
}

}  // namespace
}  // namespace bitproof::metrics

int main(int argc, char** argv) {
  using namespace bitproof::metrics;
  keep_freed_memory();
  cv::utils::logging::setLogLevel(cv::utils::logging::LOG_LEVEL_SILENT);  // errors reach the report by return
  const std::variant<Command, EarlyExit> parsed = parse_command_line(argc, argv);
  if (const EarlyExit* exit = std::get_if<EarlyExit>(&parsed)) {
    std::cout << exit->output;
    std::cerr << exit->error;
    return exit->status;
  }
  try {
    return run(std::get<Command>(parsed));
  } catch (const std::exception& error) {  // out of memory, or a bug
    fmt::print(stderr, "bitproof frames: could not finish: {}\n", error.what());
    return kCouldNotRun;
  }
}
