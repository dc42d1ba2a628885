// How a report is laid out as text and hashed: its header, one record a line, and the content's hash.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/json_reader.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

// A record on one line, and its hash, which is the last member.
struct RecordLine {
  std::string text;
  std::string sha256;
};
RecordLine record_line(const Record& record);

// The record without its hash, when the line ends with one as record_line() writes it.
struct HashedLine {
  std::string record;
  std::string_view sha256;
};
std::optional<HashedLine> split_line(std::string_view line);

// Everything of a report but its records.
Json header_to_json(const Report& report);

// Compact, members in their order, text that is no UTF-8 replaced.
std::string compact(const Json& json);

// The content hash: of the header and of the list of the records' hashes.
std::string content_hash(const Json& header, const std::vector<std::string>& record_hashes);

// Hands the text of a report of `count` records to `sink`, piece by piece; `line` gives each record's.
void write_report(const Json& header, std::size_t count, const std::function<RecordLine(std::size_t)>& line,
                  const std::function<void(std::string_view)>& sink);

// The parts of a text that write_report() laid out; nullopt for any other layout.
struct ReportParts {
  std::string header;                     // with an empty list of records
  std::vector<std::string_view> records;  // their lines
};
std::optional<ReportParts> split_report(std::string_view text);

}  // namespace bitproof::conformance
