#include "conformance/report/report.h"

#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/durable_file.h"
#include "conformance/report/json_reader.h"
#include "conformance/report/report_text.h"
#include "conformance/report/sha256.h"

namespace bitproof::conformance {

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
  write_report(
      header_to_json(report), report.records.size(),
      [&](std::size_t i) { return record_line(report.records[i]); },
      [&](std::string_view piece) { text += piece; });
  return text;
}

Result<Done> store_report(const std::filesystem::path& file, const Report& report) {
  return replace_file(file, [&](const Sink& sink) {
    write_report(
        header_to_json(report), report.records.size(),
        [&](std::size_t i) { return record_line(report.records[i]); }, sink);
  });
}

Json to_json(const Record& record) { return Json::parse(record_line(record).text); }

Json to_json(const Report& report) { return Json::parse(to_text(report)); }

std::string content_sha256(const Report& report) {
  std::vector<std::string> hashes;
  for (const Record& record : report.records) hashes.push_back(record_line(record).sha256);
  return content_hash(header_to_json(report), hashes);
}

}  // namespace bitproof::conformance
