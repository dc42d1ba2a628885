// How a report is laid out as text and hashed. The writer keeps its parts, so that a record that did not change
// is not written out again.
#pragma once

#include <string>
#include <vector>

#include "conformance/report/report.h"

namespace bitproof::conformance {

// A record on one line, and its hash.
struct RecordLine {
  std::string text;
  std::string sha256;
};
RecordLine record_line(const Record& record);

// Everything of a report but its records.
nlohmann::json header_to_json(const Report& report);

// The content hash: of the header and of the list of the records' hashes.
std::string content_hash(const nlohmann::json& header, const std::vector<std::string>& record_hashes);

std::string assemble(const nlohmann::json& header, const std::vector<RecordLine>& records);

}  // namespace bitproof::conformance
