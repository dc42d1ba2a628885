#include "conformance/report/utc.h"

#include <charconv>

#include <fmt/format.h>

namespace bitproof::conformance {
namespace {

// The number that exactly the `length` digits from `begin` on form.
std::optional<unsigned> digits(std::string_view text, std::size_t begin, std::size_t length) {
  if (begin + length > text.size()) return std::nullopt;
  unsigned value = 0;
  const char* const first = text.data() + begin;
  const auto [end, error] = std::from_chars(first, first + length, value);
  if (error != std::errc{} || end != first + length) return std::nullopt;
  return value;
}

}  // namespace

std::string to_text(std::chrono::year_month_day day) {
  return fmt::format("{:04}-{:02}-{:02}", static_cast<int>(day.year()), static_cast<unsigned>(day.month()),
                     static_cast<unsigned>(day.day()));
}

std::optional<std::chrono::year_month_day> parse_day(std::string_view text) {
  if (text.size() != 10 || text[4] != '-' || text[7] != '-') return std::nullopt;
  const auto year = digits(text, 0, 4), month = digits(text, 5, 2), day = digits(text, 8, 2);
  if (!year || !month || !day) return std::nullopt;
  const std::chrono::year_month_day date{std::chrono::year{static_cast<int>(*year)}, std::chrono::month{*month},
                                         std::chrono::day{*day}};
  if (!date.ok()) return std::nullopt;
  return date;
}

std::string to_utc_text(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::hh_mm_ss clock{time - day};
  return fmt::format("{}T{:02}:{:02}:{:02}Z", to_text(std::chrono::year_month_day{day}), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

std::optional<std::chrono::sys_seconds> parse_utc(std::string_view text) {
  if (text.size() != 20 || text[10] != 'T' || text[13] != ':' || text[16] != ':' || text[19] != 'Z')
    return std::nullopt;
  const auto day = parse_day(text.substr(0, 10));
  const auto hours = digits(text, 11, 2), minutes = digits(text, 14, 2), seconds = digits(text, 17, 2);
  if (!day || !hours || !minutes || !seconds || *hours > 23 || *minutes > 59 || *seconds > 59)
    return std::nullopt;
  return std::chrono::sys_days{*day} + std::chrono::hours{*hours} + std::chrono::minutes{*minutes} +
         std::chrono::seconds{*seconds};
}

}  // namespace bitproof::conformance
