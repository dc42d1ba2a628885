// A record as JSON, without its hash.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "conformance/report/json_reader.h"
#include "conformance/report/record.h"

namespace bitproof::conformance {

nlohmann::json record_to_json(const Record& record);
Record record_from_json(const JsonReader& json);

nlohmann::json kinds_to_json(const KindCounts& kinds);
KindCounts kinds_from_json(const JsonReader& json);

nlohmann::json ranges_to_json(const std::vector<BlockRange>& ranges);
std::vector<BlockRange> ranges_from_json(const JsonReader& json);

// Compact, keys sorted, text that is no UTF-8 replaced: equal content gives equal bytes.
std::string canonical(const nlohmann::json& json);

}  // namespace bitproof::conformance
