// What the reports behind a merged report have in common.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "conformance/report/report.h"

namespace bitproof::conformance {

// One report as the source of a merged one.
Source source_of(const StoredReport& stored);

// Puts the sources in an order that does not depend on that of their arrival, drops what came twice, and
// returns the new number of each.
std::vector<std::uint32_t> sort_sources(std::vector<Source>& sources);

// Field by field the common value, or "various"; all devices; the earliest start.
Environment common_environment(const std::vector<Source>& sources);

// The run's id when there is one run; else the hash of all their ids.
std::string common_run_id(const std::vector<Source>& sources);

// The one that speaks less for the harness.
std::optional<MutationScore> worse(const std::optional<MutationScore>& a,
                                   const std::optional<MutationScore>& b);

}  // namespace bitproof::conformance
