// Policies and expectations are JSON with comments, read strictly: whatever is not understood is an error.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

#include "conformance/report/json_reader.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

// The JSON in `text`, of schema version 1; what it is not, with the place in `source`, otherwise.
Result<Json> parse_commented_json(std::string_view text, const std::string& source);

Error malformed(const Complaint& complaint, const std::string& source, const std::string& schema);

}  // namespace bitproof::conformance
