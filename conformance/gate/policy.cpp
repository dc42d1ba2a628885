#include "conformance/gate/policy.h"

#include <algorithm>
#include <array>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/gate/finding.h"
#include "conformance/gate/json_document.h"
#include "conformance/report/text_file.h"
#include "conformance/report/utc.h"

namespace bitproof::conformance {
namespace {

constexpr const char* kSchema = "conformance/policy.schema.json";

std::vector<std::string> names(const JsonReader& in) {
  std::vector<std::string> out;
  for (std::size_t i = 0, n = in.size(); i < n; ++i) out.push_back(in[i].text());
  if (out.empty()) in.complain("at least one name is expected, since none would require nothing");
  return out;
}

std::vector<Verdict> accepted(const JsonReader& in) {
  if (!in.present()) return {Verdict::bit_exact};
  std::vector<Verdict> out;
  for (std::size_t i = 0, n = in.size(); i < n; ++i) {
    const std::string text = in[i].text();
    const std::optional<Verdict> verdict = parse_verdict(text);
    const bool passing = verdict == Verdict::bit_exact || verdict == Verdict::within_contract ||
                         verdict == Verdict::known_mismatch;
    if (!passing) in[i].complain("only bit_exact, within_contract and known_mismatch can be accepted");
    if (verdict) out.push_back(*verdict);
  }
  if (out.empty()) in.complain("at least one verdict is expected");
  return out;
}

// What the whole policy says and an entry of "required" may say otherwise.
struct Defaults {
  std::string profile;
  std::map<std::string, std::uint64_t> minimum_tested;  // by domain
};

std::map<std::string, std::uint64_t> minimum_tested(const JsonReader& in,
                                                    std::map<std::string, std::uint64_t> inherited) {
  if (!in.present()) return inherited;
  if (!in.node()->is_object()) in.complain("domains and numbers of inputs are expected");
  for (const auto& member : in.node()->items()) {
    const std::uint64_t count = in[std::string_view{member.key()}].count();
    if (count == 0) in[std::string_view{member.key()}].complain("at least 1 is expected");
    inherited[member.key()] = count;
  }
  return inherited;
}

// The cross product of one entry.
void add_required(const JsonReader& in, const Defaults& defaults, std::vector<Requirement>& required) {
  in.only({"operators", "dtypes", "implementations", "domains", "architectures", "profile", "equality",
           "evidence", "minimum_tested", "accept"});
  Requirement each;
  each.profile = in["profile"].present() ? in["profile"].text() : defaults.profile;
  if (each.profile.empty()) in["profile"].complain("a profile is expected, here or for the whole policy");
  each.equality = in["equality"].text_or("bitwise");
  each.evidence = in["evidence"].text_or("executed");
  if (!parse_evidence(each.evidence))
    in["evidence"].complain("\"executed\", \"emulated\", \"audited\" or \"compiled\" is expected");
  each.accept = accepted(in["accept"]);
  const auto minimum = minimum_tested(in["minimum_tested"], defaults.minimum_tested);
  const std::vector<std::string> operators = names(in["operators"]), dtypes = names(in["dtypes"]),
                                 implementations = names(in["implementations"]), domains = names(in["domains"]),
                                 architectures = names(in["architectures"]);
  for (const std::string& architecture : architectures) {
    for (const std::string& op : operators) {
      for (const std::string& dtype : dtypes) {
        for (const std::string& implementation : implementations) {
          for (const std::string& domain : domains) {
            Requirement one = each;
            one.op = op;
            one.dtype = dtype;
            one.implementation = implementation;
            one.domain = domain;
            one.architecture = architecture;
            const auto least = minimum.find(domain);
            if (least != minimum.end()) one.minimum_tested = least->second;
            const bool twice = std::ranges::any_of(required, [&](const Requirement& r) {
              return label(r) == label(one) && r.profile == one.profile;
            });
            if (twice) in.complain(fmt::format("\"{}\" is required twice", label(one)));
            required.push_back(std::move(one));
          }
        }
      }
    }
  }
}

Waiver waiver_from(const JsonReader& in) {
  in.only({"operator", "dtype", "implementation", "domain", "architecture", "finding", "reason", "owner",
           "expires"});
  Waiver waiver{.op = in["operator"].text(),
                .dtype = in["dtype"].text(),
                .implementation = in["implementation"].text(),
                .domain = in["domain"].text(),
                .architecture = in["architecture"].text(),
                .finding = in["finding"].text(),
                .reason = in["reason"].text(),
                .owner = in["owner"].text(),
                .expires = {}};
  if (!parse_finding_kind(waiver.finding))
    in["finding"].complain("the kind of a finding is expected, for example \"mismatch\"");
  if (waiver.reason.empty()) in["reason"].complain("a reason is expected");
  if (waiver.owner.empty()) in["owner"].complain("an owner is expected");
  const std::optional<std::chrono::year_month_day> day = parse_day(in["expires"].text());
  if (!day) in["expires"].complain("a day is expected, \"YYYY-MM-DD\"");
  waiver.expires = day.value_or(std::chrono::year_month_day{});
  return waiver;
}

Policy policy_from(const JsonReader& in) {
  in.only({"$schema", "schema_version", "name", "profile", "minimum_tested", "required", "compiled_only",
           "waivers", "maximum_age_days", "require_mutation_score"});
  Policy policy;
  policy.name = in["name"].text();
  const Defaults defaults{in["profile"].text_or(""), minimum_tested(in["minimum_tested"], {})};
  const JsonReader required = in["required"];
  for (std::size_t i = 0, n = required.size(); i < n; ++i) add_required(required[i], defaults, policy.required);
  if (policy.required.empty())
    required.complain("at least one entry is expected, since a policy without would pass anything");

  if (const JsonReader list = in["compiled_only"]; list.present()) {
    for (std::size_t i = 0, n = list.size(); i < n; ++i) {
      const JsonReader entry = list[i];
      entry.only({"architecture", "reason"});
      policy.compiled_only.push_back({entry["architecture"].text(), entry["reason"].text()});
      const bool also_required = std::ranges::any_of(policy.required, [&](const Requirement& r) {
        return r.architecture == policy.compiled_only.back().architecture;
      });
      if (also_required) entry["architecture"].complain("evidence of this architecture is required above");
    }
  }
  if (const JsonReader list = in["waivers"]; list.present()) {
    for (std::size_t i = 0, n = list.size(); i < n; ++i) policy.waivers.push_back(waiver_from(list[i]));
  }
  if (const JsonReader age = in["maximum_age_days"]; age.present()) {
    const std::uint64_t days = age.count();
    if (days > 36500) age.complain("at most 36500 days are expected");
    policy.maximum_age = std::chrono::days{static_cast<int>(std::min<std::uint64_t>(days, 36500))};
  }
  if (const JsonReader score = in["require_mutation_score"]; score.present())
    policy.require_mutation_score = score.boolean();
  return policy;
}

}  // namespace

std::string label(const Requirement& r) {
  return fmt::format("{} {} {} {} {}", r.op, r.dtype, r.implementation, r.domain, r.architecture);
}

std::string label(const Waiver& w) {
  return fmt::format("{} {} {} {} {}", w.op, w.dtype, w.implementation, w.domain, w.architecture);
}

Result<Policy> parse_policy(std::string_view text, const std::string& source) {
  const Result<Json> document = parse_commented_json(text, source);
  if (!document) return document.error();
  std::optional<Complaint> complaint;
  Policy policy = policy_from(JsonReader{*document, complaint});
  if (complaint) return malformed(*complaint, source, kSchema);
  return policy;
}

Result<Policy> load_policy(const std::filesystem::path& file) {
  const Result<std::string> text =
      read_text_file(file, "name a policy, for example fixtures/policies/project.jsonc");
  if (!text) return text.error();
  return parse_policy(*text, file.string());
}

}  // namespace bitproof::conformance
