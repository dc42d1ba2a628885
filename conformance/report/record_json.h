// A record as JSON, without its hash.
#pragma once

#include <string>
#include <vector>

#include "conformance/report/json_reader.h"
#include "conformance/report/record.h"

namespace bitproof::conformance {

// Compact, and always in the same order of members: equal records give equal bytes.
void append_record(std::string& out, const Record& record);
Record record_from_json(const JsonReader& json);

KindCounts kinds_from_json(const JsonReader& json);
std::vector<BlockRange> ranges_from_json(const JsonReader& json);

}  // namespace bitproof::conformance
