// Everything of a report but its records, as JSON and back.
#include "conformance/report/report_header.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/report/report_text.h"

namespace bitproof::conformance {
namespace {

Json device_to_json(const Device& d) {
  return {{"name", d.name},
          {"architecture", d.architecture},
          {"driver", d.driver},
          {"cuda_runtime", d.cuda_runtime},
          {"cublaslt", d.cublaslt}};
}

Device device_from_json(const JsonReader& in) {
  return {in["name"].text(), in["architecture"].text(), in["driver"].text(), in["cuda_runtime"].text(),
          in["cublaslt"].text()};
}

Json environment_to_json(const Environment& e) {
  Json devices = Json::array();
  for (const Device& device : e.devices) devices.push_back(device_to_json(device));
  return {{"tool_version", e.tool_version},
          {"tool_build", e.tool_build},
          {"host", e.host},
          {"os", e.os},
          {"cpu", e.cpu},
          {"toolchain", e.toolchain},
          {"devices", std::move(devices)},
          {"started", e.started}};
}

Environment environment_from_json(const JsonReader& in) {
  Environment e;
  e.tool_version = in["tool_version"].text();
  e.tool_build = in["tool_build"].text();
  e.host = in["host"].text();
  e.os = in["os"].text();
  e.cpu = in["cpu"].text();
  e.toolchain = in["toolchain"].text();
  const JsonReader devices = in["devices"];
  for (std::size_t i = 0, n = devices.size(); i < n; ++i) e.devices.push_back(device_from_json(devices[i]));
  e.started = in["started"].text();
  return e;
}

Json shard_to_json(const Shard& shard) { return {{"index", shard.index}, {"count", shard.count}}; }

Shard shard_from_json(const JsonReader& in) {
  const Shard shard{in["index"].count(), in["count"].count()};
  if (shard.index >= shard.count) in.complain("index < count is expected");
  return shard;
}

Json source_to_json(const Source& s) {
  return {{"run_id", s.run_id},
          {"shard", shard_to_json(s.shard)},
          {"environment", environment_to_json(s.environment)},
          {"records", s.records},
          {"seconds", s.seconds},
          {"content_sha256", s.content_sha256}};
}

Source source_from_json(const JsonReader& in) {
  return {in["run_id"].text(),   shard_from_json(in["shard"]), environment_from_json(in["environment"]),
          in["records"].count(), in["seconds"].number(),       in["content_sha256"].text()};
}

}  // namespace

Json header_to_json(const Report& report) {
  Json out = {{"schema_version", fmt::format("{}.{}", report.schema.major, report.schema.minor)},
              {"environment", environment_to_json(report.environment)},
              {"profile", report.profile},
              {"run_id", report.run_id},
              {"seed", to_hex(report.seed)},
              {"shard", shard_to_json(report.shard)}};
  if (!report.sources.empty()) {
    Json& sources = out["sources"] = Json::array();
    for (const Source& source : report.sources) sources.push_back(source_to_json(source));
  }
  if (const auto& score = report.mutation_score)
    out["mutation_score"] = {
        {"killed", score->killed}, {"total", score->total}, {"false_alarms", score->false_alarms}};
  return out;
}

Report header_from_json(const JsonReader& in) {
  Report report;
  report.environment = environment_from_json(in["environment"]);
  report.profile = in["profile"].text();
  report.run_id = in["run_id"].text();
  report.seed = in["seed"].bits();
  report.shard = shard_from_json(in["shard"]);
  if (const JsonReader sources = in["sources"]; sources.present()) {
    for (std::size_t i = 0, n = sources.size(); i < n; ++i)
      report.sources.push_back(source_from_json(sources[i]));
  }
  if (const JsonReader score = in["mutation_score"]; score.present())
    report.mutation_score = {score["killed"].count(), score["total"].count(), score["false_alarms"].count()};
  return report;
}

}  // namespace bitproof::conformance
