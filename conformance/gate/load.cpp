#include "conformance/gate/load.h"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>

namespace bitproof::conformance {
namespace {

std::vector<std::filesystem::path> reports_below(const std::filesystem::path& directory) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(directory, error), end;
  for (; !error && entry != end; entry.increment(error)) {
    if (entry->path().filename() == kReportFile) files.push_back(entry->path());
  }
  std::ranges::sort(files);
  return files;
}

std::vector<std::filesystem::path> expanded(const std::vector<std::filesystem::path>& paths) {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& path : paths) {
    std::error_code ignored;
    const bool nested =
        std::filesystem::is_directory(path, ignored) && !std::filesystem::exists(path / kReportFile, ignored);
    const std::vector<std::filesystem::path> below =
        nested ? reports_below(path) : std::vector<std::filesystem::path>{};
    // One without any report below it is kept, so that reading it says what is missing.
    if (below.empty()) {
      files.push_back(path);
    } else {
      files.insert(files.end(), below.begin(), below.end());
    }
  }
  return files;
}

}  // namespace

LoadedReports load_reports(const std::vector<std::filesystem::path>& paths) {
  const std::vector<std::filesystem::path> files = expanded(paths);
  Merger merger;
  std::map<std::size_t, Error> errors;
  std::size_t turn = 0;  // whose report comes next: of reports that overlap the first one counts
  std::mutex mutex;      // of these three
  std::condition_variable turned;
  std::atomic<std::size_t> next = 0;

  const auto work = [&] {
    for (std::size_t i = next++; i < files.size(); i = next++) {
      Result<StoredReport> report = load_report(files[i]);
      std::unique_lock lock(mutex);
      turned.wait(lock, [&] { return turn == i; });
      if (report) {
        merger.add(*std::move(report));
      } else {
        errors.emplace(i, report.error());
      }
      ++turn;
      turned.notify_all();
    }
  };
  {
    std::vector<std::jthread> workers;
    const std::size_t count =
        std::min<std::size_t>(files.size(), std::max(1u, std::thread::hardware_concurrency()));
    for (std::size_t i = 1; i < count; ++i) workers.emplace_back(work);
    work();
  }

  LoadedReports loaded{std::move(merger).finish(), {}, files.size()};
  for (auto& [index, error] : errors) loaded.errors.push_back(std::move(error));
  return loaded;
}

}  // namespace bitproof::conformance
