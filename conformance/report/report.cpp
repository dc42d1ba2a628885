#include "conformance/report/report.h"

#include <algorithm>
#include <set>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <tbb/parallel_for.h>

#include "conformance/report/durable_file.h"
#include "conformance/report/json_reader.h"
#include "conformance/report/report_text.h"
#include "conformance/report/sha256.h"

namespace bitproof::conformance {
namespace {

// The lines of the records, asked for in order. They are made on all cores, some thousand at a time, so that a
// merged report of half a million is never in memory twice.
class Lines {
 public:
  explicit Lines(const std::vector<Record>& records) : records_(records) {}

  RecordLine operator()(std::size_t index) {
    if (index == begin_ + lines_.size()) make_from(index);
    return std::move(lines_[index - begin_]);
  }

 private:
  static constexpr std::size_t kAtATime = 8192;

  void make_from(std::size_t begin) {
    begin_ = begin;
    lines_.resize(std::min(kAtATime, records_.size() - begin));
    tbb::parallel_for(std::size_t{0}, lines_.size(),
                      [&](std::size_t i) { lines_[i] = record_line(records_[begin + i]); });
  }

  const std::vector<Record>& records_;
  std::size_t begin_ = 0;
  std::vector<RecordLine> lines_;
};

void write(const Report& report, const Sink& sink) {
  write_report(header_to_json(report), report.records.size(), Lines{report.records}, sink);
}

}  // namespace

std::string run_id_of(const Report& plan) {
  std::string text =
      fmt::format("{}\n{}\n{}\n", plan.environment.tool_build, to_hex(plan.seed), plan.shard.count);
  // A set: a host with two devices plans the same record twice, and is no other run for that.
  std::set<std::string> lines;
  for (const Record& r : plan.records)
    lines.insert(fmt::format("{}\t{}\t{}\t{}\t{}\t{}\n", r.op, r.dtype, r.implementation, r.domain, r.profile,
                             r.equality));
  for (const std::string& line : lines) text += line;
  return sha256_hex(text).substr(0, 16);
}

std::string to_text(const Report& report) {
  std::string text;
  write(report, [&](std::string_view piece) { text += piece; });
  return text;
}

std::string in_words(const MutationScore& score) {
  return fmt::format("{} of {} mutants killed, {} false alarms", score.killed, score.total, score.false_alarms);
}

Result<Done> store_report(const std::filesystem::path& file, const Report& report) {
  return replace_file(file, [&](const Sink& sink) { write(report, sink); });
}

Json to_json(const Record& record) { return Json::parse(record_line(record).text); }

Json to_json(const Report& report) { return Json::parse(to_text(report)); }

std::string content_sha256(const Report& report) {
  std::vector<std::string> hashes;
  for (const Record& record : report.records) hashes.push_back(record_line(record).sha256);
  return content_hash(header_to_json(report), hashes);
}

}  // namespace bitproof::conformance
