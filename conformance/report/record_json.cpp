#include "conformance/report/record_json.h"

#include <algorithm>
#include <limits>
#include <span>

#include <nlohmann/json.hpp>

#include "conformance/report/base64.h"
#include "conformance/report/json_writer.h"

namespace bitproof::conformance {
namespace {

// "[1,2,3]"
template <class Range, class Append>
std::string list(const Range& range, const Append& append) {
  std::string out = "[";
  for (const auto& element : range) {
    if (out.size() > 1) out += ',';
    append(out, element);
  }
  return out + "]";
}

std::string to_json(const std::vector<BlockRange>& ranges) {
  return list(ranges, [](std::string& out, const BlockRange& range) {
    out += '[' + std::to_string(range.begin) + ',' + std::to_string(range.end) + ']';
  });
}

// Trailing zeros are left out, so that the common record, without a mismatch, has an empty list.
std::string to_json(const UlpHistogram& histogram) {
  const auto last = std::find_if(histogram.rbegin(), histogram.rend(), [](std::uint64_t n) { return n != 0; });
  return list(std::span(histogram.begin(), last.base()),
              [](std::string& out, std::uint64_t count) { out += std::to_string(count); });
}

std::string to_json(const KindCounts& kinds) {
  std::string out;
  JsonWriter writer(out);
  for (const KindField& field : kKindFields) writer.count(field.name, kinds.*field.count);
  writer.end();
  return out;
}

std::string to_json(const SmallestCase& c) {
  std::string out;
  JsonWriter writer(out);
  writer.count("rows", c.rows);
  writer.count("width", c.width);
  writer.count("row", c.row);
  writer.count("column", c.column);
  writer.json("inputs", list(c.inputs, append_quoted));
  writer.text("expected", c.expected);
  writer.text("got", c.got);
  if (!c.place.empty()) writer.text("place", c.place);
  writer.text("layout", c.layout);
  writer.text("element", c.element);
  writer.text("reproduce", c.reproduce);
  writer.end();
  return out;
}

std::string to_json(const Counterexample& c) {
  std::string out;
  JsonWriter writer(out);
  writer.json("inputs", list(c.inputs, append_quoted));
  writer.text("expected", c.expected);
  writer.text("got", c.got);
  writer.text("kind", c.kind);
  writer.number("expected_value", c.expected_value);
  writer.number("got_value", c.got_value);
  writer.count("ulp", c.ulp);
  writer.count("rows", c.rows);
  writer.count("width", c.width);
  writer.count("row", c.row);
  writer.count("column", c.column);
  writer.count("vector_lane", c.vector_lane);
  writer.count("block", c.block);
  writer.text("layout", c.layout);
  writer.text("parts_at", c.parts_at);
  writer.text("reproduce", c.reproduce);
  if (!c.diagnosis.empty()) writer.text("diagnosis", c.diagnosis);
  if (c.smallest) writer.json("smallest", to_json(*c.smallest));
  writer.end();
  return out;
}

std::string to_json(const Cause& cause) {
  std::string out;
  JsonWriter writer(out);
  writer.text("cause", cause.name);
  writer.count("count", cause.count);
  writer.json("first", to_json(cause.first));
  writer.end();
  return out;
}

std::string to_json(const LibraryAlgorithm& algorithm) {
  std::string out;
  JsonWriter writer(out);
  writer.text("description", algorithm.description);
  writer.count("splits", algorithm.splits);
  writer.count("workspace_bytes", algorithm.workspace_bytes);
  writer.json("shapes", list(algorithm.shapes, append_quoted));
  writer.end();
  return out;
}

// A list of objects.
template <class T>
std::string objects(const std::vector<T>& all) {
  return list(all, [](std::string& out, const T& one) { out += to_json(one); });
}

UlpHistogram histogram_from_json(const JsonReader& in) {
  UlpHistogram histogram{};
  const std::size_t size = in.size();
  if (size > histogram.size()) in.complain("at most 18 buckets are expected");
  for (std::size_t i = 0; i < std::min(size, histogram.size()); ++i) histogram[i] = in[i].count();
  return histogram;
}

std::vector<std::string> texts_from_json(const JsonReader& in) {
  std::vector<std::string> texts;
  for (std::size_t i = 0, n = in.size(); i < n; ++i) texts.push_back(in[i].text());
  return texts;
}

SmallestCase smallest_from_json(const JsonReader& in) {
  SmallestCase c;
  c.rows = in["rows"].count();
  c.width = in["width"].count();
  c.row = in["row"].count();
  c.column = in["column"].count();
  c.inputs = texts_from_json(in["inputs"]);
  c.expected = in["expected"].text();
  c.got = in["got"].text();
  c.place = in["place"].text_or("");
  c.layout = in["layout"].text();
  c.element = in["element"].text();
  c.reproduce = in["reproduce"].text();
  return c;
}

Counterexample counterexample_from_json(const JsonReader& in) {
  Counterexample c;
  c.inputs = texts_from_json(in["inputs"]);
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
  c.diagnosis = in["diagnosis"].text_or("");
  if (const JsonReader smallest = in["smallest"]; smallest.present()) c.smallest = smallest_from_json(smallest);
  return c;
}

std::vector<Cause> causes_from_json(const JsonReader& in) {
  std::vector<Cause> causes;
  if (!in.present()) return causes;
  for (std::size_t i = 0, n = in.size(); i < n; ++i)
    causes.push_back({in[i]["cause"].text(), in[i]["count"].count(), counterexample_from_json(in[i]["first"])});
  return causes;
}

std::vector<LibraryAlgorithm> algorithms_from_json(const JsonReader& in) {
  std::vector<LibraryAlgorithm> algorithms;
  if (!in.present()) return algorithms;
  for (std::size_t i = 0, n = in.size(); i < n; ++i) {
    LibraryAlgorithm one{
        in[i]["description"].text(), in[i]["splits"].count(), in[i]["workspace_bytes"].count(), {}};
    const JsonReader shapes = in[i]["shapes"];
    for (std::size_t s = 0, count = shapes.size(); s < count; ++s) one.shapes.push_back(shapes[s].text());
    algorithms.push_back(std::move(one));
  }
  return algorithms;
}

std::vector<std::uint8_t> errors_from_json(const JsonReader& in) {
  if (!in.present()) return {};
  std::optional<std::vector<std::uint8_t>> bytes = from_base64(in.text());
  if (!bytes) in.complain("base64 is expected");
  return std::move(bytes).value_or(std::vector<std::uint8_t>{});
}

}  // namespace

KindCounts kinds_from_json(const JsonReader& in) {
  KindCounts kinds;
  for (const KindField& field : kKindFields) kinds.*field.count = in[field.name].count();
  return kinds;
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

void append_record(std::string& out, const Record& r) {
  JsonWriter writer(out);
  writer.text("operator", r.op);
  writer.text("dtype", r.dtype);
  writer.text("implementation", r.implementation);
  writer.text("domain", r.domain);
  writer.text("device", r.device);
  writer.text("architecture", r.architecture);
  writer.text("verdict", name(r.verdict));
  if (!r.reason.empty()) writer.text("reason", r.reason);
  writer.count("tested", r.tested);
  writer.count("total", r.total);
  writer.text("unit", r.unit);
  writer.boolean("sampled", r.sampled);
  writer.count("mismatches", r.mismatches);
  writer.json("kinds", to_json(r.kinds));
  writer.count("max_ulp", r.max_ulp);
  writer.json("ulp_histogram", to_json(r.ulp_histogram));
  if (r.first) writer.json("first", to_json(*r.first));
  if (!r.causes.empty()) writer.json("causes", objects(r.causes));
  writer.text("profile", r.profile);
  writer.text("equality", r.equality);
  writer.text("evidence", r.evidence);
  writer.text("machine_code_key", r.machine_code_key);
  if (!r.library_version.empty()) writer.text("library_version", r.library_version);
  if (!r.algorithms.empty()) writer.json("algorithms", objects(r.algorithms));
  writer.bits("seed", r.seed);
  writer.bits("digest", r.digest);
  writer.bits("expected_digest", r.expected_digest);
  writer.number("seconds", r.seconds);
  writer.count("blocks_total", r.blocks_total);
  writer.json("blocks", to_json(r.blocks));
  if (!r.sources.empty()) writer.json("sources", to_json(r.sources));
  if (std::ranges::any_of(r.errors, [](std::uint8_t e) { return e != 0; }))
    writer.text("errors", to_base64(r.errors));
  writer.end();
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
  r.causes = causes_from_json(in["causes"]);
  r.algorithms = algorithms_from_json(in["algorithms"]);
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

}  // namespace bitproof::conformance
