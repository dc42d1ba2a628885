#include "conformance/report/record_json.h"

#include <algorithm>
#include <limits>

#include <nlohmann/json.hpp>

#include "conformance/report/base64.h"

namespace bitproof::conformance {
namespace {

using nlohmann::json;

// Trailing zeros are left out, so that the common record, without a mismatch, has an empty list.
json histogram_to_json(const UlpHistogram& histogram) {
  const auto last = std::find_if(histogram.rbegin(), histogram.rend(), [](std::uint64_t n) { return n != 0; });
  return json(std::vector<std::uint64_t>(histogram.begin(), last.base()));
}

UlpHistogram histogram_from_json(const JsonReader& in) {
  UlpHistogram histogram{};
  const std::size_t size = in.size();
  if (size > histogram.size()) in.complain("at most 18 buckets are expected");
  for (std::size_t i = 0; i < std::min(size, histogram.size()); ++i) histogram[i] = in[i].count();
  return histogram;
}

json counterexample_to_json(const Counterexample& c) {
  return {{"inputs", c.inputs},
          {"expected", c.expected},
          {"got", c.got},
          {"kind", c.kind},
          {"expected_value", number_to_json(c.expected_value)},
          {"got_value", number_to_json(c.got_value)},
          {"ulp", c.ulp},
          {"rows", c.rows},
          {"width", c.width},
          {"row", c.row},
          {"column", c.column},
          {"vector_lane", c.vector_lane},
          {"block", c.block},
          {"layout", c.layout},
          {"parts_at", c.parts_at},
          {"reproduce", c.reproduce}};
}

Counterexample counterexample_from_json(const JsonReader& in) {
  Counterexample c;
  const JsonReader inputs = in["inputs"];
  for (std::size_t i = 0, n = inputs.size(); i < n; ++i) c.inputs.push_back(inputs[i].text());
  c.expected = in["expected"].text();
  c.got = in["got"].text();
  c.kind = in["kind"].text();
  c.expected_value = in["expected_value"].number();
  c.got_value = in["got_value"].number();
  c.ulp = in["ulp"].count();
  c.rows = in["rows"].count();
  c.width = in["width"].count();
  c.row = in["row"].count();
  c.column = in["column"].count();
  const std::uint64_t lane = in["vector_lane"].count();
  if (lane > std::numeric_limits<std::uint32_t>::max()) in["vector_lane"].complain("a lane is expected");
  c.vector_lane = static_cast<std::uint32_t>(lane);
  c.block = in["block"].count();
  c.layout = in["layout"].text();
  c.parts_at = in["parts_at"].text();
  c.reproduce = in["reproduce"].text();
  return c;
}

std::vector<std::uint8_t> errors_from_json(const JsonReader& in) {
  if (!in.present()) return {};
  std::optional<std::vector<std::uint8_t>> bytes = from_base64(in.text());
  if (!bytes) in.complain("base64 is expected");
  return std::move(bytes).value_or(std::vector<std::uint8_t>{});
}

}  // namespace

json kinds_to_json(const KindCounts& kinds) {
  json out = json::object();
  for (const KindField& field : kKindFields) out[std::string{field.name}] = kinds.*field.count;
  return out;
}

KindCounts kinds_from_json(const JsonReader& in) {
  KindCounts kinds;
  for (const KindField& field : kKindFields) kinds.*field.count = in[field.name].count();
  return kinds;
}

json ranges_to_json(const std::vector<BlockRange>& ranges) {
  json out = json::array();
  for (const BlockRange& range : ranges) out.push_back({range.begin, range.end});
  return out;
}

std::vector<BlockRange> ranges_from_json(const JsonReader& in) {
  std::vector<BlockRange> ranges;
  for (std::size_t i = 0, n = in.size(); i < n; ++i) {
    const JsonReader range = in[i];
    if (range.size() != 2) range.complain("[begin, end] is expected");
    ranges.push_back({range[std::size_t{0}].count(), range[std::size_t{1}].count()});
    const bool ascending =
        ranges.back().begin < ranges.back().end && (i == 0 || ranges[i - 1].end < ranges.back().begin);
    if (!ascending) range.complain("ascending, disjoint ranges that do not touch are expected");
  }
  return ranges;
}

json record_to_json(const Record& r) {
  json out = {{"operator", r.op},
              {"dtype", r.dtype},
              {"implementation", r.implementation},
              {"domain", r.domain},
              {"device", r.device},
              {"architecture", r.architecture},
              {"profile", r.profile},
              {"equality", r.equality},
              {"evidence", r.evidence},
              {"machine_code_key", r.machine_code_key},
              {"seed", to_hex(r.seed)},
              {"tested", r.tested},
              {"total", r.total},
              {"unit", r.unit},
              {"sampled", r.sampled},
              {"blocks_total", r.blocks_total},
              {"blocks", ranges_to_json(r.blocks)},
              {"mismatches", r.mismatches},
              {"kinds", kinds_to_json(r.kinds)},
              {"max_ulp", r.max_ulp},
              {"ulp_histogram", histogram_to_json(r.ulp_histogram)},
              {"digest", to_hex(r.digest)},
              {"expected_digest", to_hex(r.expected_digest)},
              {"seconds", number_to_json(r.seconds)},
              {"verdict", name(r.verdict)}};
  if (!r.library_version.empty()) out["library_version"] = r.library_version;
  if (r.first) out["first"] = counterexample_to_json(*r.first);
  if (std::ranges::any_of(r.errors, [](std::uint8_t e) { return e != 0; })) out["errors"] = to_base64(r.errors);
  if (!r.reason.empty()) out["reason"] = r.reason;
  if (!r.sources.empty()) out["sources"] = ranges_to_json(r.sources);
  return out;
}

Record record_from_json(const JsonReader& in) {
  Record r;
  r.op = in["operator"].text();
  r.dtype = in["dtype"].text();
  r.implementation = in["implementation"].text();
  r.domain = in["domain"].text();
  r.device = in["device"].text();
  r.architecture = in["architecture"].text();
  r.profile = in["profile"].text();
  r.equality = in["equality"].text();
  r.evidence = in["evidence"].text();
  r.machine_code_key = in["machine_code_key"].text();
  r.seed = in["seed"].bits();
  r.library_version = in["library_version"].text_or("");
  r.tested = in["tested"].count();
  r.total = in["total"].count();
  r.unit = in["unit"].text();
  r.sampled = in["sampled"].boolean();
  r.blocks_total = in["blocks_total"].count();
  r.blocks = ranges_from_json(in["blocks"]);
  if (!r.blocks.empty() && r.blocks.back().end > r.blocks_total)
    in["blocks"].complain("a block beyond blocks_total");
  r.mismatches = in["mismatches"].count();
  r.kinds = kinds_from_json(in["kinds"]);
  r.max_ulp = in["max_ulp"].count();
  r.ulp_histogram = histogram_from_json(in["ulp_histogram"]);
  if (const JsonReader first = in["first"]; first.present()) r.first = counterexample_from_json(first);
  r.digest = in["digest"].bits();
  r.expected_digest = in["expected_digest"].bits();
  r.errors = errors_from_json(in["errors"]);
  r.seconds = in["seconds"].number();
  const std::string verdict = in["verdict"].text();
  if (const std::optional<Verdict> known = parse_verdict(verdict)) {
    r.verdict = *known;
  } else {
    in["verdict"].complain("unknown verdict");
  }
  r.reason = in["reason"].text_or("");
  if (const JsonReader sources = in["sources"]; sources.present()) r.sources = ranges_from_json(sources);
  return r;
}

std::string canonical(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

}  // namespace bitproof::conformance
