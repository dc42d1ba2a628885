// Writes a report as the run goes, such that whatever stops the run, power included, the file is a valid
// report: what was finished is in it, the rest is not_run.
//
// The file is replaced, never changed: a complete new one is written beside it, flushed to the disk, and
// renamed over it. The directory is locked while a writer lives; the lock dies with the process.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>

#include "conformance/report/record.h"
#include "conformance/report/report.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

class ReportWriter {
 public:
  struct Options {
    // checkpoint() writes at most once in this time.
    std::chrono::milliseconds checkpoint_interval{2000};
    std::function<std::chrono::steady_clock::time_point()> now = std::chrono::steady_clock::now;
  };

  // Starts a report of `plan` in `directory`, which is made if needed, and writes it at once. Records of the
  // plan that have no reason yet become not_run, "the run ended before this record". Errors: unwritable;
  // occupied, when there is a report already or another writer.
  static Result<ReportWriter> create(const std::filesystem::path& directory, Report plan, Options options);
  static Result<ReportWriter> create(const std::filesystem::path& directory, Report plan);

  // Continues the report in `directory`, or starts one where there is none yet, so that a job which its
  // scheduler starts again may always resume. Finished records and tested blocks of unfinished ones are taken
  // over; `refused` and `error` are tried again. snapshot() then says what is there, and remaining() what is
  // left of a record. A host or processor other than the first one's is added to the environment. Errors: those
  // of create() and parse_report(); foreign, when tool build, seed, shard, devices or the records planned are
  // not the same.
  static Result<ReportWriter> resume(const std::filesystem::path& directory, Report plan, Options options);
  static Result<ReportWriter> resume(const std::filesystem::path& directory, Report plan);

  ReportWriter(ReportWriter&&) noexcept;
  ReportWriter& operator=(ReportWriter&&) noexcept;
  ~ReportWriter();

  // Replaces record `index` of the plan with its final form. On return it is on the disk. Thread-safe.
  Result<Done> update(std::size_t index, Record record);

  // The same for a record whose sweep goes on; reaches the disk when the last write is older than the interval.
  // Its verdict is decided from what was tested so far, so that a killed run leaves the truth. Thread-safe.
  Result<Done> checkpoint(std::size_t index, Record record);

  // Adds the score of a mutation test. On return it is on the disk. Thread-safe.
  Result<Done> update(MutationScore score);

  // Writes what checkpoint() held back.
  Result<Done> flush();

  Report snapshot() const;
  std::filesystem::path path() const;

 private:
  struct State;
  explicit ReportWriter(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace bitproof::conformance
