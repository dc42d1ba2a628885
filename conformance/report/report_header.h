// Everything of a report but its records, read from JSON; header_to_json() is the way back.
#pragma once

#include "conformance/report/json_reader.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

// Its schema version is left to the caller, who must have read it before anything else.
Report header_from_json(const JsonReader& json);

}  // namespace bitproof::conformance
