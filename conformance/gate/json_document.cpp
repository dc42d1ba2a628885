#include "conformance/gate/json_document.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace bitproof::conformance {

Result<Json> parse_commented_json(std::string_view text, const std::string& source) {
  Json document;
  try {
    document = Json::parse(text, nullptr, true, /*ignore_comments=*/true);
  } catch (const Json::exception& error) {
    return Error{ErrorKind::malformed, fmt::format("no JSON: {}", error.what()), source,
                 "mend it at that place (comments are allowed, trailing commas are not)"};
  }
  std::optional<Complaint> complaint;
  const std::string version = JsonReader{document, complaint}["schema_version"].text();
  if (complaint) return malformed(*complaint, source, "the schema");
  if (!version.starts_with("1."))
    return Error{ErrorKind::unsupported_version,
                 fmt::format("schema version {} is not understood, only 1.x is", version),
                 source + ", /schema_version",
                 "use the bitproof it was written for, or write it for version 1"};
  return document;
}

Error malformed(const Complaint& complaint, const std::string& source, const std::string& schema) {
  return {ErrorKind::malformed, complaint.what, source + ", " + complaint.place,
          "mend it; " + schema + " says what is allowed"};
}

}  // namespace bitproof::conformance
