#include "metrics/report/json.h"

#include <nlohmann/json.hpp>

namespace bitproof::metrics {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchemaVersion = 1;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json digest(const std::optional<Digest>& value) { return value ? Json(value->hex()) : Json(nullptr); }

void add_score(Json& out, const Score& score) {
  out[score.key] = or_null(score.value);
  if (!score.value) out[score.key + "_reason"] = score.reason;
  if (score.one_minus) out["one_minus_" + score.key] = *score.one_minus;
}

Json summary(const Summary& values, const MetricEntry& entry) {
  Json out = Json::object();
  if (const Score* score = values.find(entry.headline)) {
    out["identical"] = score->best;
  } else {
    out["identical"] = false;
    out[entry.headline] = nullptr;
    out[entry.headline + "_reason"] = "no pair of frames was measured";
  }
  for (const Score& score : values.scores) add_score(out, score);
  for (const Count& count : values.counts) out[count.key] = count.value;
  return out;
}

Json row(const PairResult& result, const Outcome& outcome) {
  Json out = {{"frame", result.index_a},
              {"frame_b", result.index_b},
              {"identical", result.identical},
              {"squared_error", or_null(result.squared_error)},
              {"mean_squared_error", result.mean_squared_error}};
  if (!result.squared_error) out["squared_error_reason"] = "floating-point samples";
  if (result.digest_a) out["sha256"] = {{"a", digest(result.digest_a)}, {"b", digest(result.digest_b)}};
  for (std::size_t i = 0; i < result.metrics.size(); ++i) {
    const MetricEntry& entry = *outcome.metrics[i].entry;
    out[entry.name] = summary(result.metrics[i], entry);
  }
  return out;
}

Json level(const LevelResult& result) {
  Json out = {{"identical", or_null(result.identical)}};
  if (!result.identical) out["reason"] = result.reason;
  if (result.a || result.b) out["sha256"] = {{"a", digest(result.a)}, {"b", digest(result.b)}};
  return out;
}

Json identity(const Outcome& outcome) {
  Json frame = level(outcome.frame);
  if (outcome.frame.identical) frame["equal"] = outcome.equal_frame_digests;
  Json pixel = {
      {"identical", outcome.compared > 0 ? Json(outcome.identical_frames == outcome.compared) : Json(nullptr)},
      {"equal", outcome.identical_frames},
      {"squared_error", outcome.compared > 0 ? or_null(outcome.squared_error) : Json(nullptr)}};
  if (const auto& at = outcome.first_difference)
    pixel["first_difference"] = {{"frame", at->frame_a},
                                 {"frame_b", at->frame_b},
                                 {"plane", std::string(1, at->plane)},
                                 {"x", at->x},
                                 {"y", at->y},
                                 {"a", at->a},
                                 {"b", at->b}};
  return {{"file", level(outcome.file)}, {"stream", level(outcome.stream)}, {"frame", frame}, {"pixel", pixel}};
}

Json input(const SourceInfo& info, const std::optional<FrameFormat>& format) {
  Json out = {{"path", info.path}, {"kind", info.kind.empty() ? Json(nullptr) : Json(info.kind)}};
  if (format) {
    out["width"] = format->width;
    out["height"] = format->height;
    out["pixel_format"] = format->pixel_format;
    out["range"] = name(format->range);
    out["matrix"] = format->matrix;
  }
  for (const Property& property : info.properties) out["metadata"][property.name] = property.value;
  return out;
}

std::string_view kind_name(FailureKind kind) {
  switch (kind) {
    case FailureKind::usage:
      return "usage";
    case FailureKind::unreadable:
      return "unreadable";
    case FailureKind::decode:
      return "decode";
    case FailureKind::mismatch:
      return "mismatch";
    case FailureKind::length:
      return "length";
    case FailureKind::not_finite:
      return "not_finite";
    case FailureKind::threshold:
      return "threshold";
  }
  return "";
}

Json whole(const Outcome& outcome) {
  Json out = {
      {"verdict", name(outcome.verdict())},
      {"identical", outcome.identical()},
      {"exit_status", outcome.exit_status()},
      {"frames",
       {{"a", or_null(outcome.frames[0])}, {"b", or_null(outcome.frames[1])}, {"compared", outcome.compared}}},
      {"offset", outcome.offset},
      {"identity", identity(outcome)}};
  for (const MetricResult& metric : outcome.metrics) {
    Json values = summary(metric.summary, *metric.entry);
    if (metric.threshold) values["threshold"] = *metric.threshold;
    out[metric.entry->name] = std::move(values);
  }
  out["worst_frames"] = Json::array();
  for (const PairResult& pair : outcome.worst) out["worst_frames"].push_back(row(pair, outcome));
  out["metadata_differences"] = Json::array();
  for (const MetadataDifference& difference : outcome.metadata_differences)
    out["metadata_differences"].push_back(
        {{"name", difference.name}, {"a", difference.a}, {"b", difference.b}});
  out["mismatches"] = outcome.mismatches;
  out["warnings"] = outcome.warnings;
  out["failures"] = Json::array();
  for (const Failure& failure : outcome.failures)
    out["failures"].push_back({{"kind", kind_name(failure.kind)}, {"message", failure.message}});
  out["definitions"] = Json::object();
  for (const MetricResult& metric : outcome.metrics)
    out["definitions"][metric.entry->name] = metric.definition.text;
  out["inputs"] = {{"a", input(outcome.inputs[0], outcome.formats[0])},
                   {"b", input(outcome.inputs[1], outcome.formats[1])}};
  out["seconds"] = outcome.seconds;
  return out;
}

// Bytes of file names that are not UTF-8 are replaced; JSON has no others.
std::string text_of(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

void JsonReport::on_pair(const Outcome& outcome, const PairResult& result, const FramePair&) {
  out_ << (open_ ? ",\n    " : "{\n  \"per_frame\": [\n    ") << text_of(row(result, outcome), -1);
  open_ = true;
}

void JsonReport::on_finish(const Outcome& outcome) {
  out_ << (open_ ? "\n  ],\n" : "{\n  \"per_frame\": [],\n") << "  \"schema_version\": " << kSchemaVersion
       << ",\n";
  const std::string rest = text_of(whole(outcome), 2);
  out_ << rest.substr(rest.find('\n') + 1) << '\n' << std::flush;
}

}  // namespace bitproof::metrics
