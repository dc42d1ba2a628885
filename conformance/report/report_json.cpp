#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/json_reader.h"
#include "conformance/report/record_json.h"
#include "conformance/report/report.h"
#include "conformance/report/report_text.h"
#include "conformance/report/sha256.h"
#include "conformance/report/text_file.h"

namespace bitproof::conformance {
namespace {

using nlohmann::json;

constexpr const char* kRestore = "restore the file from where it was written, or run again";

json device_to_json(const Device& d) {
  return {{"name", d.name},
          {"architecture", d.architecture},
          {"driver", d.driver},
          {"cuda_runtime", d.cuda_runtime},
          {"cublaslt", d.cublaslt}};
}

Device device_from_json(const JsonReader& in) {
  return {in["name"].text(), in["architecture"].text(), in["driver"].text(), in["cuda_runtime"].text(),
          in["cublaslt"].text()};
}

json environment_to_json(const Environment& e) {
  json devices = json::array();
  for (const Device& device : e.devices) devices.push_back(device_to_json(device));
  return {{"tool_version", e.tool_version},
          {"tool_build", e.tool_build},
          {"host", e.host},
          {"os", e.os},
          {"cpu", e.cpu},
          {"toolchain", e.toolchain},
          {"devices", std::move(devices)},
          {"started", e.started}};
}

Environment environment_from_json(const JsonReader& in) {
  Environment e;
  e.tool_version = in["tool_version"].text();
  e.tool_build = in["tool_build"].text();
  e.host = in["host"].text();
  e.os = in["os"].text();
  e.cpu = in["cpu"].text();
  e.toolchain = in["toolchain"].text();
  const JsonReader devices = in["devices"];
  for (std::size_t i = 0, n = devices.size(); i < n; ++i) e.devices.push_back(device_from_json(devices[i]));
  e.started = in["started"].text();
  return e;
}

json shard_to_json(const Shard& shard) { return {{"index", shard.index}, {"count", shard.count}}; }

Shard shard_from_json(const JsonReader& in) {
  const Shard shard{in["index"].count(), in["count"].count()};
  if (shard.index >= shard.count) in.complain("index < count is expected");
  return shard;
}

json source_to_json(const Source& s) {
  return {{"run_id", s.run_id},
          {"shard", shard_to_json(s.shard)},
          {"environment", environment_to_json(s.environment)},
          {"records", s.records},
          {"seconds", s.seconds},
          {"content_sha256", s.content_sha256}};
}

Source source_from_json(const JsonReader& in) {
  return {in["run_id"].text(),   shard_from_json(in["shard"]), environment_from_json(in["environment"]),
          in["records"].count(), in["seconds"].number(),       in["content_sha256"].text()};
}

Report header_from_json(const JsonReader& in) {
  Report report;
  report.environment = environment_from_json(in["environment"]);
  report.profile = in["profile"].text();
  report.run_id = in["run_id"].text();
  report.seed = in["seed"].bits();
  report.shard = shard_from_json(in["shard"]);
  if (const JsonReader sources = in["sources"]; sources.present()) {
    for (std::size_t i = 0, n = sources.size(); i < n; ++i)
      report.sources.push_back(source_from_json(sources[i]));
  }
  if (const JsonReader score = in["mutation_score"]; score.present())
    report.mutation_score = {score["killed"].count(), score["total"].count(), score["false_alarms"].count()};
  return report;
}

std::optional<SchemaVersion> parse_version(std::string_view text) {
  SchemaVersion version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc{} || minor.ptr != end) return std::nullopt;
  return version;
}

// Takes the hash out of a record and says whether the rest has it.
bool has_stated_hash(json& record) {
  const std::string stated = record["sha256"].get<std::string>();
  record.erase("sha256");
  return sha256_hex(canonical(record)) == stated;
}

class ReportParser {
 public:
  ReportParser(json document, const std::string& source) : document_(std::move(document)), source_(source) {}

  Result<StoredReport> parse() {
    std::optional<Complaint> complaint;
    const JsonReader root{document_, complaint};

    const std::string version_text = root["schema_version"].text();
    if (complaint) return malformed(*complaint);
    const std::optional<SchemaVersion> version = parse_version(version_text);
    if (!version) return malformed({"/schema_version", "\"MAJOR.MINOR\" is expected"});
    if (version->major != kReportSchema.major)
      return Error{
          ErrorKind::unsupported_version,
          fmt::format("schema version {} is not understood, only {}.x is", version_text, kReportSchema.major),
          place("/schema_version"), "use the bitproof that wrote the report, or run again with this one"};

    // Hashes before shapes: a damaged file should be called damaged, wherever the damage is.
    if (std::optional<Error> damage = verify(root, complaint)) return *damage;

    Report report = header_from_json(root);
    report.schema = *version;
    const JsonReader records = root["records"];
    report.records.reserve(records.size());
    for (std::size_t i = 0, n = records.size(); i < n && !complaint; ++i) {
      report.records.push_back(record_from_json(records[i]));
      check_sources(report, records[i]);
    }
    if (complaint) return malformed(*complaint);
    return StoredReport{std::move(report), root["content_sha256"].text(), source_};
  }

 private:
  std::string place(const std::string& pointer) const { return source_ + ", " + pointer; }

  Error malformed(const Complaint& complaint) const {
    return {ErrorKind::malformed, complaint.what, place(complaint.place), kRestore};
  }

  static void check_sources(const Report& report, const JsonReader& record) {
    const std::vector<BlockRange>& sources = report.records.back().sources;
    if (!sources.empty() && sources.back().end > report.sources.size())
      record["sources"].complain("a number beyond the list of sources");
  }

  // Removes all hashes from the document on the way.
  std::optional<Error> verify(const JsonReader& root, std::optional<Complaint>& complaint) {
    const JsonReader records = root["records"];
    const std::size_t size = records.size();
    const std::string stated = root["content_sha256"].text();
    if (complaint) return malformed(*complaint);

    std::vector<std::string> hashes;
    for (std::size_t i = 0; i < size; ++i) {
      hashes.push_back(records[i]["sha256"].text());
      if (complaint) return malformed(*complaint);
      if (!has_stated_hash(document_["records"][i]))
        return damaged(fmt::format("/records/{}", i),
                       "the content of this record is not what its SHA-256 says");
    }
    json header = json::object();
    for (const auto& [key, value] : document_.items())
      if (key != "records" && key != "content_sha256") header[key] = value;
    if (content_hash(header, hashes) != stated)
      return damaged(
          "/content_sha256",
          "what stands outside the records, or their number or order, is not what this SHA-256 says");
    return std::nullopt;
  }

  Error damaged(const std::string& pointer, std::string what) const {
    return {ErrorKind::damaged, "damaged or edited: " + what, place(pointer), kRestore};
  }

  json document_;
  const std::string& source_;
};

}  // namespace

json header_to_json(const Report& report) {
  json out = {{"schema_version", fmt::format("{}.{}", report.schema.major, report.schema.minor)},
              {"environment", environment_to_json(report.environment)},
              {"profile", report.profile},
              {"run_id", report.run_id},
              {"seed", to_hex(report.seed)},
              {"shard", shard_to_json(report.shard)}};
  if (!report.sources.empty()) {
    json& sources = out["sources"] = json::array();
    for (const Source& source : report.sources) sources.push_back(source_to_json(source));
  }
  if (const auto& score = report.mutation_score)
    out["mutation_score"] = {
        {"killed", score->killed}, {"total", score->total}, {"false_alarms", score->false_alarms}};
  return out;
}

RecordLine record_line(const Record& record) {
  RecordLine line;
  line.text = canonical(record_to_json(record));
  line.sha256 = sha256_hex(line.text);
  line.text.pop_back();  // the closing brace
  line.text += R"(,"sha256":")" + line.sha256 + R"("})";
  return line;
}

std::string content_hash(const json& header, const std::vector<std::string>& record_hashes) {
  std::string text = canonical(header);
  for (const std::string& hash : record_hashes) text += "\n" + hash;
  return sha256_hex(text);
}

std::string assemble(const json& header, const std::vector<RecordLine>& records) {
  std::vector<std::string> hashes;
  std::size_t size = 0;
  for (const RecordLine& line : records) {
    hashes.push_back(line.sha256);
    size += line.text.size() + 2;
  }
  std::string text = header.dump(2, ' ', false, json::error_handler_t::replace);
  text.resize(text.size() - 2);  // the closing brace and the end of line before it
  text.reserve(text.size() + size + 128);
  text += ",\n  \"records\": [";
  for (std::size_t i = 0; i < records.size(); ++i) {
    text += i == 0 ? "\n" : ",\n";
    text += records[i].text;
  }
  text += fmt::format("\n  ],\n  \"content_sha256\": \"{}\"\n}}\n", content_hash(header, hashes));
  return text;
}

json to_json(const Record& record) { return json::parse(record_line(record).text); }

json to_json(const Report& report) { return json::parse(to_text(report)); }

std::string to_text(const Report& report) {
  std::vector<RecordLine> lines;
  lines.reserve(report.records.size());
  for (const Record& record : report.records) lines.push_back(record_line(record));
  return assemble(header_to_json(report), lines);
}

std::string content_sha256(const Report& report) {
  std::vector<std::string> hashes;
  for (const Record& record : report.records) hashes.push_back(record_line(record).sha256);
  return content_hash(header_to_json(report), hashes);
}

Result<StoredReport> load_report_text(std::string_view text, const std::string& source) {
  json document;
  try {
    document = json::parse(text);
  } catch (const json::parse_error& error) {
    // Its text says line and column, and what it found.
    return Error{ErrorKind::malformed, fmt::format("no JSON: {}", error.what()), source, kRestore};
  }
  return ReportParser{std::move(document), source}.parse();
}

Result<StoredReport> load_report(const std::filesystem::path& file_or_directory) {
  std::error_code ignored;
  const bool directory = std::filesystem::is_directory(file_or_directory, ignored);
  const std::filesystem::path file = directory ? file_or_directory / kReportFile : file_or_directory;
  const Result<std::string> text = read_text_file(file, "name a report.json or the directory that holds one");
  if (!text) return text.error();
  return load_report_text(*text, file.string());
}

Result<Report> parse_report_text(std::string_view text, const std::string& source) {
  Result<StoredReport> stored = load_report_text(text, source);
  if (!stored) return stored.error();
  return std::move(stored->report);
}

Result<Report> parse_report(const std::filesystem::path& file_or_directory) {
  Result<StoredReport> stored = load_report(file_or_directory);
  if (!stored) return stored.error();
  return std::move(stored->report);
}

}  // namespace bitproof::conformance
