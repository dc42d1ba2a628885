#include "conformance/gate/expectations.h"

#include <array>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/gate/json_document.h"
#include "conformance/report/combine.h"
#include "conformance/report/record_json.h"
#include "conformance/report/text_file.h"

namespace bitproof::conformance {
namespace {

constexpr const char* kSchema = "conformance/expectations.schema.json";

bool same_subject(const Expectation& a, const Expectation& b) {
  return label(a) == label(b) && a.profile == b.profile && a.library_version == b.library_version &&
         a.seed == b.seed;
}

Expectation expectation_from(const JsonReader& in) {
  in.only({"operator", "dtype", "implementation", "domain", "architecture", "profile", "library_version",
           "seed", "kinds", "max_ulp", "digest", "reason"});
  Expectation e;
  e.op = in["operator"].text();
  e.dtype = in["dtype"].text();
  e.implementation = in["implementation"].text();
  e.domain = in["domain"].text();
  e.architecture = in["architecture"].text();
  e.profile = in["profile"].text();
  e.library_version = in["library_version"].text_or("");
  e.seed = in["seed"].bits();
  e.kinds = kinds_from_json(in["kinds"]);
  e.max_ulp = in["max_ulp"].count();
  e.digest = in["digest"].bits();
  e.reason = in["reason"].text();
  if (e.kinds.total() == 0)
    in["kinds"].complain("at least one mismatch is expected; without any there is nothing to know");
  return e;
}

}  // namespace

std::string label(const Expectation& e) {
  return fmt::format("{} {} {} {} {}", e.op, e.dtype, e.implementation, e.domain, e.architecture);
}

Result<std::vector<Expectation>> parse_expectations(std::string_view text, const std::string& source) {
  const Result<Json> document = parse_commented_json(text, source);
  if (!document) return document.error();
  std::optional<Complaint> complaint;
  const JsonReader in{*document, complaint};
  in.only({"$schema", "schema_version", "expectations"});
  const JsonReader list = in["expectations"];
  std::vector<Expectation> expectations;
  for (std::size_t i = 0, n = list.size(); i < n; ++i) {
    Expectation next = expectation_from(list[i]);
    for (const Expectation& earlier : expectations) {
      if (same_subject(earlier, next)) list[i].complain("a second expectation for the same record");
    }
    expectations.push_back(std::move(next));
  }
  if (complaint) return malformed(*complaint, source, kSchema);
  return expectations;
}

Result<std::vector<Expectation>> load_expectations(const std::filesystem::path& file) {
  const Result<std::string> text = read_text_file(
      file, "name a list of known mismatches, for example fixtures/expectations/known_mismatches.json");
  if (!text) return text.error();
  return parse_expectations(*text, file.string());
}

const Expectation* find_expectation(const std::vector<Expectation>& expectations, const Record& record) {
  for (const Expectation& e : expectations) {
    if (label(e) == label(record) && e.profile == record.profile &&
        e.library_version == record.library_version && e.seed == record.seed)
      return &e;
  }
  return nullptr;
}

Agreement compare(const Expectation& expectation, const Record& record) {
  if (record.kinds == expectation.kinds && record.max_ulp == expectation.max_ulp &&
      record.digest == expectation.digest)
    return Agreement::met;
  if (record.mismatches == 0) return Agreement::vanished;
  if (record.mismatches > expectation.kinds.total()) return Agreement::grew;
  if (record.mismatches < expectation.kinds.total()) return Agreement::shrank;
  return Agreement::changed;
}

bool contradicts(const Record& record, const std::vector<Expectation>& expectations) {
  const Expectation* const expectation = find_expectation(expectations, record);
  if (expectation == nullptr) return record.verdict == Verdict::mismatch;
  const bool whole = record.tested > 0 && remaining({0, record.blocks_total}, record.blocks).empty();
  return whole && compare(*expectation, record) != Agreement::met;
}

Record with_expectation(Record record, const std::vector<Expectation>& expectations) {
  if (record.verdict != Verdict::mismatch || !is_finished(record, {0, record.blocks_total})) return record;
  const Expectation* const expectation = find_expectation(expectations, record);
  if (expectation == nullptr || compare(*expectation, record) != Agreement::met) return record;
  record.verdict = Verdict::known_mismatch;
  record.reason = expectation->reason;
  return record;
}

}  // namespace bitproof::conformance
