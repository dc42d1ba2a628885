// Points in time as reports write them: ISO 8601, UTC, whole seconds: "2026-03-01T12:00:00Z".
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

namespace bitproof::conformance {

std::string to_utc_text(std::chrono::sys_seconds time);
std::optional<std::chrono::sys_seconds> parse_utc(std::string_view text);

// "2026-03-01"
std::string to_text(std::chrono::year_month_day day);
std::optional<std::chrono::year_month_day> parse_day(std::string_view text);

}  // namespace bitproof::conformance
