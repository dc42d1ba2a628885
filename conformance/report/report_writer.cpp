#include "conformance/report/report_writer.h"

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/combine.h"
#include "conformance/report/durable_file.h"
#include "conformance/report/report_text.h"

namespace bitproof::conformance {
namespace {

constexpr const char* kNotReached = "the run ended before this record";

void plan_not_run(Record& record) {
  if (!record.reason.empty()) return;
  record.verdict = Verdict::not_run;
  record.reason = kNotReached;
}

Error foreign(const std::filesystem::path& directory, std::string what) {
  return {ErrorKind::foreign, std::move(what), (directory / kReportFile).string(),
          "resume with the options and the build that started it, or start a new report in another directory"};
}

// What keeps `plan` from continuing `begun`.
std::optional<std::string> difference(const Report& begun, const Report& plan) {
  const Environment &was = begun.environment, &is = plan.environment;
  if (was.tool_build != is.tool_build)
    return fmt::format("begun by build {} of the tool, this is {}", was.tool_build, is.tool_build);
  if (begun.seed != plan.seed) return fmt::format("begun with seed {}, this is {}", begun.seed, plan.seed);
  if (begun.shard != plan.shard)
    return fmt::format("begun as shard {}, this is {}", name(begun.shard), name(plan.shard));
  if (begun.profile != plan.profile)
    return fmt::format("begun for profile {}, this is {}", begun.profile, plan.profile);
  if (was.devices != is.devices) return "begun on other devices";
  if (!begun.sources.empty()) return "a merged report";
  if (begun.records.size() != plan.records.size())
    return fmt::format("begun with {} records, now there are {}", begun.records.size(), plan.records.size());
  for (std::size_t i = 0; i < plan.records.size(); ++i) {
    const Record &old = begun.records[i], &now = plan.records[i];
    if (!same_identity(old, now) || old.device != now.device || old.total != now.total ||
        old.blocks_total != now.blocks_total)
      return fmt::format("record {} was {} on {}, now it is {} on {}", i, label(old), old.device, label(now),
                         now.device);
  }
  return std::nullopt;
}

// A machine on which only part of the run took place is named too.
void add_machine(std::string& names, const std::string& name) {
  if (("+" + names + "+").find("+" + name + "+") == std::string::npos) names += "+" + name;
}

}  // namespace

struct ReportWriter::State {
  State(std::filesystem::path directory, DirectoryLock lock_, Options options_)
      : file(std::move(directory) / kReportFile), lock(std::move(lock_)), options(std::move(options_)) {}

  void load(Report content) {
    report = std::move(content);
    header = header_to_json(report);
    lines.clear();
    for (const Record& record : report.records) lines.push_back(record_line(record));
  }

  void put(std::size_t index, Record record) {
    lines.at(index) = record_line(record);
    report.records.at(index) = std::move(record);
    dirty = true;
  }

  Result<Done> write() {
    Result<Done> done = replace_file(file, [&](const Sink& sink) {
      write_report(
          header, lines.size(), [&](std::size_t i) -> const RecordLine& { return lines[i]; }, sink);
    });
    if (done) dirty = false;
    written = options.now();
    return done;
  }

  std::filesystem::path file;
  DirectoryLock lock;
  Options options;
  mutable std::mutex mutex;
  Report report;
  Json header;
  std::vector<RecordLine> lines;  // of report.records
  bool dirty = false;             // `report` is ahead of the file
  std::chrono::steady_clock::time_point written;
};

ReportWriter::ReportWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
ReportWriter::ReportWriter(ReportWriter&&) noexcept = default;
ReportWriter& ReportWriter::operator=(ReportWriter&&) noexcept = default;
ReportWriter::~ReportWriter() = default;

Result<ReportWriter> ReportWriter::create(const std::filesystem::path& directory, Report plan,
                                          Options options) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error || !std::filesystem::is_directory(directory, error))
    return Error{ErrorKind::unwritable, fmt::format("no directory, and none can be made: {}", error.message()),
                 directory.string(), "name another directory with --report"};
  Result<DirectoryLock> lock = DirectoryLock::acquire(directory);
  if (!lock) return lock.error();
  if (std::filesystem::exists(directory / kReportFile, error))
    return Error{ErrorKind::occupied, "there is a report already", directory.string(),
                 "continue it with --resume, or name another directory with --report"};

  for (Record& record : plan.records) plan_not_run(record);
  auto state = std::make_unique<State>(directory, *std::move(lock), std::move(options));
  state->load(std::move(plan));
  if (Result<Done> done = state->write(); !done) return done.error();
  return ReportWriter{std::move(state)};
}

Result<ReportWriter> ReportWriter::resume(const std::filesystem::path& directory, Report plan,
                                          Options options) {
  std::error_code ignored;
  if (!std::filesystem::exists(directory / kReportFile, ignored))
    return create(directory, std::move(plan), std::move(options));
  Result<DirectoryLock> lock = DirectoryLock::acquire(directory);
  if (!lock) return lock.error();
  Result<Report> begun = parse_report(directory);
  if (!begun) return begun.error();
  if (const std::optional<std::string> what = difference(*begun, plan)) return foreign(directory, *what);

  for (std::size_t i = 0; i < plan.records.size(); ++i) {
    Record& record = begun->records[i];
    const bool again =
        record.verdict == Verdict::refused || record.verdict == Verdict::error || record.tested == 0;
    if (!again) continue;
    record = std::move(plan.records[i]);
    plan_not_run(record);
  }
  add_machine(begun->environment.host, plan.environment.host);
  add_machine(begun->environment.os, plan.environment.os);
  add_machine(begun->environment.cpu, plan.environment.cpu);

  auto state = std::make_unique<State>(directory, *std::move(lock), std::move(options));
  state->load(*std::move(begun));
  if (Result<Done> done = state->write(); !done) return done.error();
  return ReportWriter{std::move(state)};
}

Result<ReportWriter> ReportWriter::create(const std::filesystem::path& directory, Report plan) {
  return create(directory, std::move(plan), Options{});
}

Result<ReportWriter> ReportWriter::resume(const std::filesystem::path& directory, Report plan) {
  return resume(directory, std::move(plan), Options{});
}

Result<Done> ReportWriter::update(std::size_t index, Record record) {
  const std::lock_guard guard(state_->mutex);
  state_->put(index, std::move(record));
  return state_->write();
}

Result<Done> ReportWriter::checkpoint(std::size_t index, Record record) {
  const std::lock_guard guard(state_->mutex);
  const BlockRange share = share_of(state_->report.shard, record.blocks_total);
  state_->put(index, decided(std::move(record), share));
  if (state_->options.now() - state_->written < state_->options.checkpoint_interval) return Done{};
  return state_->write();
}

Result<Done> ReportWriter::update(MutationScore score) {
  const std::lock_guard guard(state_->mutex);
  state_->report.mutation_score = score;
  state_->header = header_to_json(state_->report);
  return state_->write();
}

Result<Done> ReportWriter::flush() {
  const std::lock_guard guard(state_->mutex);
  return state_->dirty ? state_->write() : Result<Done>{Done{}};
}

Report ReportWriter::snapshot() const {
  const std::lock_guard guard(state_->mutex);
  return state_->report;
}

std::filesystem::path ReportWriter::path() const { return state_->file; }

}  // namespace bitproof::conformance
