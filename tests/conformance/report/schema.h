// JSON schema validation for tests.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

namespace bitproof::conformance::testing {

// What `document` does first that the schema (draft 7) does not allow, with the place; empty when it is valid.
std::string violation(const nlohmann::json& schema, const nlohmann::json& document);

}  // namespace bitproof::conformance::testing
