#include "conformance/gate/text.h"

#include <fmt/format.h>

namespace bitproof::conformance {

std::string coverage_of(const Record& record) {
  return fmt::format("{}/{} {}{}", record.tested, record.total, record.unit,
                     record.sampled ? " (sampled)" : "");
}

std::string verdict_of(const Record& record) {
  const std::string verdict(name(record.verdict));
  return record.evidence == name(Evidence::executed) ? verdict : verdict + " (" + record.evidence + ")";
}

std::string timing_of(const Record& record) {
  if (record.tested == 0) return "";
  const std::string seconds = fmt::format("{:.3g} s", record.seconds);
  if (!(record.seconds > 0)) return seconds;
  const double rate = static_cast<double>(record.tested) / record.seconds;
  if (rate >= 1e9) return fmt::format("{}, {:.3g} G/s", seconds, rate / 1e9);
  if (rate >= 1e6) return fmt::format("{}, {:.3g} M/s", seconds, rate / 1e6);
  return fmt::format("{}, {:.3g} k/s", seconds, rate / 1e3);
}

std::string kinds_of(const KindCounts& kinds) {
  std::string text;
  for (const KindField& field : kKindFields) {
    if (kinds.*field.count != 0)
      text += fmt::format("{}{} {}", text.empty() ? "" : ", ", kinds.*field.count, field.name);
  }
  return text;
}

std::string value_of(double value) { return fmt::format("{:.9g}", value); }

}  // namespace bitproof::conformance
