// Reading reports. Those that lie as they were written are read line by line, which is several times faster and
// takes the memory of one record's tree at a time; any other layout of the same JSON is read as a whole.
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/record_json.h"
#include "conformance/report/report_header.h"
#include "conformance/report/report_text.h"
#include "conformance/report/sha256.h"
#include "conformance/report/text_file.h"

namespace bitproof::conformance {
namespace {

constexpr const char* kRestore = "restore the file from where it was written, or run again";

std::optional<SchemaVersion> parse_version(std::string_view text) {
  SchemaVersion version;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc{} || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc{} || minor.ptr != end) return std::nullopt;
  return version;
}

Json parse_json(std::string_view text) { return Json::parse(text.data(), text.data() + text.size()); }

class ReportParser {
 public:
  explicit ReportParser(std::string source) : source_(std::move(source)) {}

  // The whole document, whatever its layout. Throws Json::exception when it is no JSON, or has a number that no
  // binary64 holds.
  Result<StoredReport> parse_document(std::string_view text) {
    Json document = parse_json(text);
    Json records;
    if (document.is_object() && document.contains("records")) {
      records = std::move(document["records"]);
      document["records"] = Json::array();
      if (!records.is_array()) return malformed({"/records", "a list is expected"});
    }
    if (std::optional<Error> error = begin(document)) return *error;
    report_.records.reserve(records.size());
    for (Json& record : records) {
      if (std::optional<Error> error = add(record, std::nullopt)) return *error;
      record = nullptr;
    }
    return finish(std::move(document));
  }

  // The same from the parts of its text. Throws Json::parse_error when one of them is no JSON.
  Result<StoredReport> parse_parts(const ReportParts& parts, std::string_view text) {
    Json header = parse_json(parts.header);
    // The lines were found by how they look; that they are this list must be certain.
    const bool is_the_list =
        header.is_object() && header.contains("records") && header["records"] == Json::array();
    if (!is_the_list) return parse_document(text);
    if (std::optional<Error> error = begin(header)) return *error;
    report_.records.reserve(parts.records.size());
    for (const std::string_view line : parts.records) {
      Json record = parse_json(line);
      if (std::optional<Error> error = add(record, split_line(line))) return *error;
    }
    return finish(std::move(header));
  }

 private:
  // The version comes before anything else, since everything else depends on it.
  std::optional<Error> begin(const Json& header) {
    const JsonReader in{header, complaint_};
    const std::string text = in["schema_version"].text();
    if (complaint_) return malformed(*complaint_);
    const std::optional<SchemaVersion> version = parse_version(text);
    if (!version) return malformed({"/schema_version", "\"MAJOR.MINOR\" is expected"});
    if (version->major != kReportSchema.major)
      return Error{ErrorKind::unsupported_version,
                   fmt::format("schema version {} is not understood, only {}.x is", text, kReportSchema.major),
                   place("/schema_version"),
                   "use the bitproof that wrote the report, or run again with this one"};
    report_.schema = *version;
    (void)in["records"].size();
    content_sha256_ = in["content_sha256"].text();
    if (complaint_) return malformed(*complaint_);
    return std::nullopt;
  }

  // The hash comes before the shape: a damaged record should be called damaged, wherever the damage is.
  std::optional<Error> add(Json& record, const std::optional<HashedLine>& line) {
    const std::string pointer = fmt::format("/records/{}", report_.records.size());
    const JsonReader in{record, complaint_};
    hashes_.push_back(in["sha256"].text());
    if (complaint_) return malformed(*complaint_, pointer);
    if (!has_stated_hash(record, line))
      return damaged(pointer, "the content of this record is not what its SHA-256 says");

    Record& added = report_.records.emplace_back(record_from_json(in));
    if (!added.sources.empty()) last_source_ = std::max(last_source_, added.sources.back().end);
    if (complaint_) return malformed(*complaint_, pointer);
    return std::nullopt;
  }

  // As it was written, or else in the same order with other white space.
  bool has_stated_hash(const Json& record, const std::optional<HashedLine>& line) const {
    const std::string& stated = hashes_.back();
    if (line && line->sha256 == stated && sha256_hex(line->record) == stated) return true;
    Json content = record;
    content.erase("sha256");
    return sha256_hex(compact(content)) == stated;
  }

  Result<StoredReport> finish(Json header) {
    Json content = header;
    content.erase("records");
    content.erase("content_sha256");
    if (content_hash(content, hashes_) != content_sha256_)
      return damaged(
          "/content_sha256",
          "what stands outside the records, or their number or order, is not what this SHA-256 says");
    std::vector<Record> records = std::move(report_.records);
    const SchemaVersion schema = report_.schema;
    report_ = header_from_json(JsonReader{header, complaint_});
    report_.schema = schema;
    report_.records = std::move(records);
    if (complaint_) return malformed(*complaint_);
    if (last_source_ > report_.sources.size())
      return malformed({"/sources", "a record names a source beyond this list"});
    return StoredReport{std::move(report_), std::move(content_sha256_), source_};
  }

  std::string place(const std::string& pointer) const { return source_ + ", " + pointer; }

  Error malformed(const Complaint& complaint, const std::string& below = "") const {
    return {ErrorKind::malformed, complaint.what, place(below + complaint.place), kRestore};
  }

  Error damaged(const std::string& pointer, const std::string& what) const {
    return {ErrorKind::damaged, "damaged or edited: " + what, place(pointer), kRestore};
  }

  std::string source_;
  std::optional<Complaint> complaint_;
  Report report_;
  std::vector<std::string> hashes_;
  std::string content_sha256_;
  std::uint64_t last_source_ = 0;
};

}  // namespace

Result<StoredReport> load_report_text(std::string_view text, const std::string& source) {
  try {
    if (const std::optional<ReportParts> parts = split_report(text))
      return ReportParser{source}.parse_parts(*parts, text);
  } catch (const Json::exception&) {
    // Read as a whole below, its error has the line and column in the file.
  }
  try {
    return ReportParser{source}.parse_document(text);
  } catch (const Json::exception& error) {
    return Error{ErrorKind::malformed, fmt::format("no JSON: {}", error.what()), source, kRestore};
  }
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
