#include "metrics/compare/outcome.h"

#include <algorithm>

#include <fmt/format.h>

namespace bitproof::metrics {

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::identical:
      return "identical";
    case Verdict::different:
      return "different";
    case Verdict::failed:
      return "failed";
  }
  return "";
}

Verdict Outcome::verdict() const {
  const bool broken = std::any_of(failures.begin(), failures.end(), [](const Failure& failure) {
    return failure.kind != FailureKind::threshold;
  });
  if (broken || compared == 0) return Verdict::failed;
  return identical_frames == compared && mismatches.empty() ? Verdict::identical : Verdict::different;
}

int Outcome::exit_status() const {
  const bool unusable = std::any_of(failures.begin(), failures.end(), [](const Failure& failure) {
    return failure.kind == FailureKind::unreadable || failure.kind == FailureKind::usage;
  });
  if (unusable) return 2;
  return failures.empty() && compared > 0 ? 0 : 1;
}

std::optional<Failure> check_threshold(const MetricResult& metric) {
  if (!metric.threshold) return std::nullopt;
  const MetricEntry& entry = *metric.entry;
  const auto failed = [&](const std::string& what) {
    return Failure{FailureKind::threshold,
                   fmt::format("{} {}: {} {}", entry.threshold_flag, *metric.threshold, entry.title, what)};
  };
  const Score* score = metric.summary.find(entry.headline);
  if (score == nullptr) return failed("was not measured");
  if (score->best) return std::nullopt;
  if (!score->value) return failed(fmt::format("has no value: {}", score->reason));
  const bool passed =
      entry.better == Better::higher ? *score->value >= *metric.threshold : *score->value <= *metric.threshold;
  if (passed) return std::nullopt;
  return failed(fmt::format("is {:.17g}", *score->value));
}

}  // namespace bitproof::metrics
