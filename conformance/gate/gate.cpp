#include "conformance/gate/gate.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "conformance/report/combine.h"
#include "conformance/report/json_reader.h"
#include "conformance/report/utc.h"

namespace bitproof::conformance {
namespace {

constexpr BlockRange whole(const Record& record) { return {0, record.blocks_total}; }

constexpr std::string_view kOnDevice = "cuda.", kEmulated = "emulated.";

// "emulated.fused" for "cuda.fused", whose machine code it runs; nothing for an implementation without.
std::string emulation_of(const std::string& implementation) {
  if (!implementation.starts_with(kOnDevice)) return "";
  return std::string(kEmulated) + implementation.substr(kOnDevice.size());
}

// How much `text` proves, in the order of Evidence; what is no kind of evidence proves nothing.
int strength(const std::string& text) {
  const std::optional<Evidence> evidence = parse_evidence(text);
  return evidence ? static_cast<int>(*evidence) : -1;
}

bool will_emulation_do(const Requirement& requirement) {
  return strength(requirement.evidence) <= static_cast<int>(Evidence::emulated) &&
         !emulation_of(requirement.implementation).empty();
}

std::string run_again(const Record& record) {
  const bool on_gpu = record.device.starts_with("cuda") || record.architecture.starts_with("sm_");
  const std::string device = record.implementation.starts_with(kEmulated) ? "emulated:" + record.architecture
                             : on_gpu                                     ? "cuda"
                                                                          : "cpu";
  return fmt::format("run again: ./bitproof run --op {} --dtype {} --impl {} --domain {} --device {}",
                     record.op, record.dtype, record.implementation, record.domain, device);
}

// The verdict that the numbers deserve; `refused` and `error` stand as the runner gave them.
Decision derived(const Record& record) { return decide_verdict(record, whole(record)); }

bool completely_tested(const Record& record) {
  return record.tested > 0 && record.tested == record.total && remaining(whole(record), record.blocks).empty();
}

// Findings about one record, whether the policy requires it or not: that it is wrong, or known to be wrong
// otherwise, or does not hold together.
class Examination {
 public:
  Examination(const Record& record, const std::vector<Expectation>& expectations)
      : record_(record), expectation_(find_expectation(expectations, record)) {}

  std::vector<Finding> findings() {
    if (record_.implementation.starts_with(kEmulated) &&
        strength(record_.evidence) > static_cast<int>(Evidence::emulated)) {
      note(FindingKind::contradiction, fmt::format("called {}, but its implementation is emulated; {}",
                                                   record_.evidence, run_again(record_)));
      return std::move(findings_);
    }
    const Decision decision = derived(record_);
    if (decision.verdict == Verdict::error) {
      const bool stated = record_.verdict == Verdict::error;
      note(stated ? FindingKind::error : FindingKind::contradiction,
           fmt::format("{}; {}", decision.reason, run_again(record_)));
      return std::move(findings_);
    }
    if (record_.kinds.total() != record_.mismatches) {
      note(FindingKind::contradiction, fmt::format("{} mismatches, but {} by kind; {}", record_.mismatches,
                                                   record_.kinds.total(), run_again(record_)));
      return std::move(findings_);
    }
    if (expectation_ != nullptr && completely_tested(record_)) {
      examine_expectation();
    } else if (decision.verdict == Verdict::mismatch) {
      note(FindingKind::mismatch, mismatch_text());
    } else if (record_.verdict == Verdict::mismatch || record_.verdict == Verdict::known_mismatch) {
      note(FindingKind::contradiction,
           fmt::format("called {}, but its numbers show none; {}", name(record_.verdict), run_again(record_)));
    }
    return std::move(findings_);
  }

  // known_mismatch is decided here and not taken from the report.
  bool is_known() const {
    return expectation_ != nullptr && completely_tested(record_) &&
           compare(*expectation_, record_) == Agreement::met;
  }

 private:
  void note(FindingKind kind, const std::string& what) {
    findings_.push_back({kind, label(record_), label(record_) + ": " + what});
  }

  std::string mismatch_text() const {
    std::string text = differences(record_);
    if (const auto& first = record_.first) {
      text += fmt::format(", first {}: expected {}, got {}", what(*first), first->expected, first->got);
      if (!first->reproduce.empty()) return text + "; reproduce it with: " + first->reproduce;
    }
    return text + "; " + run_again(record_);
  }

  void examine_expectation() {
    struct Text {
      Agreement agreement;
      FindingKind kind;
      const char* what;
      const char* remedy;
    };
    static constexpr Text kTexts[] = {
        {Agreement::grew, FindingKind::mismatches_grew, "more than expected",
         "find what made it worse; commit a new expectation only if that is meant"},
        {Agreement::shrank, FindingKind::mismatches_shrank, "fewer than expected",
         "commit the smaller expectation if that is meant"},
        {Agreement::vanished, FindingKind::mismatches_vanished, "none, though some are expected",
         "remove the expectation if that is meant"},
        {Agreement::changed, FindingKind::mismatches_changed, "as many as expected, but others",
         "find what changed; commit a new expectation only if that is meant"},
    };
    const Agreement agreement = compare(*expectation_, record_);
    const auto* text = std::ranges::find(kTexts, agreement, &Text::agreement);
    if (text == std::end(kTexts)) return;
    note(text->kind, fmt::format("{} mismatches with digest {}, {} ({} with digest {}); {}", record_.mismatches,
                                 to_hex(record_.digest), text->what, expectation_->kinds.total(),
                                 to_hex(expectation_->digest), text->remedy));
  }

  const Record& record_;
  const Expectation* expectation_;
  std::vector<Finding> findings_;
};

class Gate {
 public:
  Gate(Merged merged, const Policy& policy, const std::vector<Expectation>& expectations, const Tree& tree,
       std::chrono::sys_seconds now)
      : policy_(policy),
        expectations_(expectations),
        tree_(tree),
        now_(now),
        merge_findings_(std::move(merged.findings)) {
    result_.policy = policy.name;
    result_.compiled_only = policy.compiled_only;
    result_.evidence = std::move(merged.report);
    for (const Record& record : result_.evidence.records) by_label_[label(record)].push_back(&record);
  }

  GateResult decide() {
    for (Finding& finding : merge_findings_) add(std::move(finding));
    for (const Requirement& requirement : policy_.required) decide(requirement);
    examine_the_rest();
    check_expectations();
    check_mutation_score();
    apply_waivers();
    for (Outcome& outcome : result_.required) conclude(outcome);
    return std::move(result_);
  }

 private:
  // Once, though a record may be looked at as required and as one of all.
  void add(Finding finding) {
    if (said_.insert(finding.message).second) result_.findings.push_back(std::move(finding));
  }

  void add(FindingKind kind, const std::string& subject, const std::string& what) {
    add({kind, subject, subject + ": " + what});
  }

  // --- A required record -----------------------------------------------------------------------------------

  void decide(const Requirement& requirement) {
    Outcome outcome{.requirement = requirement, .state = Outcome::State::failed, .record = {}, .findings = {}};
    const std::vector<const Record*> candidates = candidates_for(requirement);
    if (candidates.empty()) {
      add(absence(requirement));
      result_.required.push_back(std::move(outcome));
      return;
    }
    // Of several records the one with the fewest flaws is the evidence. That another one is too old or
    // incomplete does not matter then; that it is wrong does, and examine_the_rest() says so.
    const Record* best = nullptr;
    std::vector<Finding> flaws;
    for (const Record* record : candidates) {
      std::vector<Finding> its = flaws_of(*record, requirement);
      const auto rank = [](const Record& r, const std::vector<Finding>& f) {
        return std::tuple(f.size(), -strength(r.evidence), ~r.tested);
      };
      if (best == nullptr || rank(*record, its) < rank(*best, flaws)) {
        best = record;
        flaws = std::move(its);
      }
    }
    for (Finding& flaw : flaws) add(std::move(flaw));
    if (candidates.size() > 1)
      result_.notes.push_back(
          fmt::format("{}: {} records, the best of them is taken", label(requirement), candidates.size()));
    outcome.record = *best;
    result_.required.push_back(std::move(outcome));
  }

  // The records of its name and, where emulation will do, of the implementation that emulates its machine code.
  std::vector<const Record*> candidates_for(const Requirement& requirement) const {
    std::vector<const Record*> candidates;
    const auto add_all = [&](const std::string& name) {
      const auto found = by_label_.find(name);
      if (found != by_label_.end())
        candidates.insert(candidates.end(), found->second.begin(), found->second.end());
    };
    add_all(label(requirement));
    if (will_emulation_do(requirement)) {
      Requirement emulated = requirement;
      emulated.implementation = emulation_of(requirement.implementation);
      add_all(label(emulated));
    }
    // An implementation may be held to several profiles, each with a record of its own.
    const auto of_the_profile = [&](const Record* record) { return record->profile == requirement.profile; };
    if (std::ranges::any_of(candidates, of_the_profile)) std::erase_if(candidates, std::not_fn(of_the_profile));
    return candidates;
  }

  Finding absence(const Requirement& requirement) const {
    const std::string what = label(requirement);
    const bool has_siblings = std::ranges::any_of(result_.evidence.records, [&](const Record& r) {
      return r.architecture == requirement.architecture && r.implementation == requirement.implementation;
    });
    if (has_siblings)
      return {FindingKind::vanished, what,
              what +
                  ": required by the policy, but gone from reports that have other records of the same "
                  "implementation and "
                  "architecture; find out who removed it, or take it out of the policy"};
    const bool emulate = will_emulation_do(requirement);
    return {FindingKind::missing, what,
            fmt::format(
                "{}: no report has it{}; run ./bitproof run --op {} --dtype {} --impl {} --domain {} {} and "
                "pass the report",
                what, why_not_run(requirement), requirement.op, requirement.dtype,
                emulate ? emulation_of(requirement.implementation) : requirement.implementation,
                requirement.domain, (emulate ? "--device emulated:" : "on ") + requirement.architecture)};
  }

  // A machine without a device cannot tell which architecture it did not run on, but why it did not.
  std::string why_not_run(const Requirement& requirement) const {
    for (const Record& r : result_.evidence.records) {
      if (r.op == requirement.op && r.dtype == requirement.dtype &&
          r.implementation == requirement.implementation && r.domain == requirement.domain &&
          r.architecture == "cuda" && !r.reason.empty())
        return " (" + r.reason + ")";
    }
    return "";
  }

  std::vector<Finding> flaws_of(const Record& record, const Requirement& requirement) {
    Examination examination(record, expectations_);
    std::vector<Finding> flaws = examination.findings();
    const auto flaw = [&](FindingKind kind, const std::string& what) {
      flaws.push_back({kind, label(record), label(record) + ": " + what});
    };
    check_identity(record, requirement, flaw);
    if (!flaws.empty() && flaws.front().kind == FindingKind::error) return flaws;
    if (!check_coverage(record, requirement, flaw)) return flaws;
    check_verdict(record, requirement, examination.is_known(), flaw);
    check_freshness(record, flaw);
    return flaws;
  }

  template <class Flaw>
  static void check_identity(const Record& record, const Requirement& requirement, const Flaw& flaw) {
    struct Field {
      FindingKind kind;
      const char* what;
      std::string Record::*has;
      std::string Requirement::*wants;
    };
    static constexpr Field kFields[] = {
        {FindingKind::wrong_profile, "profile", &Record::profile, &Requirement::profile},
        {FindingKind::wrong_equality, "equality", &Record::equality, &Requirement::equality},
    };
    for (const Field& field : kFields) {
      if (record.*field.has != requirement.*field.wants)
        flaw(field.kind, fmt::format("{} {}, but the policy requires {}; {}", field.what, record.*field.has,
                                     requirement.*field.wants, run_again(record)));
    }
    if (strength(record.evidence) < strength(requirement.evidence))
      flaw(FindingKind::wrong_evidence,
           fmt::format(
               "evidence {}, but the policy requires {}; run it on such a device: ./bitproof run --op {} "
               "--dtype {} --impl {} --domain {}",
               record.evidence, requirement.evidence, requirement.op, requirement.dtype,
               requirement.implementation, requirement.domain));
  }

  // Whether everything that is required was tested.
  template <class Flaw>
  static bool check_coverage(const Record& record, const Requirement& requirement, const Flaw& flaw) {
    const std::string coverage = fmt::format("{}/{} {} tested", record.tested, record.total, record.unit);
    const std::string why = record.reason.empty() ? "" : " (" + record.reason + ")";
    if (record.verdict == Verdict::refused) {
      flaw(FindingKind::refused,
           fmt::format("refused{}; serve the input, or take the record out of the policy", why));
      return false;
    }
    if (record.tested == 0) {
      const FindingKind kind =
          record.verdict == Verdict::not_run ? FindingKind::not_run : FindingKind::no_coverage;
      flaw(kind, fmt::format("{}{}; {}", coverage, why, run_again(record)));
      return false;
    }
    if (!completely_tested(record)) {
      flaw(FindingKind::partial_coverage, fmt::format("{}{}; complete it with ./bitproof run --resume, or {}",
                                                      coverage, why, run_again(record)));
      return false;
    }
    if (record.tested < requirement.minimum_tested) {
      flaw(FindingKind::partial_coverage,
           fmt::format("{}, but the policy requires {}; enlarge the domain again, or lower minimum_tested",
                       coverage, requirement.minimum_tested));
      return false;
    }
    return true;
  }

  template <class Flaw>
  static void check_verdict(const Record& record, const Requirement& requirement, bool known,
                            const Flaw& flaw) {
    Verdict verdict = known ? Verdict::known_mismatch : derived(record).verdict;
    if (verdict == Verdict::mismatch || verdict == Verdict::error) return;  // said already
    // What the numbers allow does not help a record that calls itself less.
    if (record.verdict == Verdict::not_run) verdict = Verdict::not_run;
    if (std::ranges::find(requirement.accept, verdict) != requirement.accept.end()) return;
    if (verdict == Verdict::not_run) {
      flaw(FindingKind::not_run, fmt::format("not_run, {}; {}", record.reason, run_again(record)));
    } else {
      flaw(FindingKind::verdict_not_accepted,
           fmt::format("{}, which the policy does not accept here; mend it, or name it under \"accept\"",
                       name(verdict)));
    }
  }

  template <class Flaw>
  void check_freshness(const Record& record, const Flaw& flaw) {
    const std::optional<std::string> key = tree_.machine_code_key(record);
    if (!key) {
      flaw(FindingKind::stale_machine_code,
           "this tree has no machine code to compare the evidence with; build it for that architecture "
           "(BITPROOF_CUDA=ON)");
    } else if (*key != record.machine_code_key) {
      flaw(FindingKind::stale_machine_code,
           fmt::format("made with machine code {}, the tree has {}; {}", brief(record.machine_code_key),
                       brief(*key), run_again(record)));
    }
    check_reference(record, flaw);
    check_age(record, flaw);
  }

  static std::string brief(const std::string& key) { return key.empty() ? "(none)" : key.substr(0, 12); }

  template <class Flaw>
  void check_reference(const Record& record, const Flaw& flaw) {
    const bool recomputed =
        record.domain == "values" || record.domain == "boundary" || record.domain == "pairs";
    if (!recomputed) return;
    const std::optional<std::uint64_t> digest = expected_digest(record);
    if (!digest) {
      flaw(FindingKind::stale_reference,
           "the reference of this tree cannot compute the expected outputs; restore the operator, or take the "
           "record out of "
           "the policy");
    } else if (*digest != record.expected_digest) {
      flaw(FindingKind::stale_reference,
           fmt::format("expected outputs have digest {}, the tree's reference gives {}; {}",
                       to_hex(record.expected_digest), to_hex(*digest), run_again(record)));
    }
  }

  // All 2^32 pairs take the reference many seconds, and several implementations share them.
  std::optional<std::uint64_t> expected_digest(const Record& r) {
    const auto key = std::tuple(r.op, r.dtype, r.profile, r.domain, r.seed);
    const auto known = expected_.find(key);
    if (known != expected_.end()) return known->second;
    return expected_[key] = tree_.expected_digest(r.op, r.dtype, r.profile, r.domain, r.seed);
  }

  template <class Flaw>
  void check_age(const Record& record, const Flaw& flaw) const {
    if (!policy_.maximum_age) return;
    for (const std::string& started : starts_of(record)) {
      const std::optional<std::chrono::sys_seconds> time = parse_utc(started);
      if (!time) {
        flaw(FindingKind::too_old,
             fmt::format("the report does not say when it was made; {}", run_again(record)));
      } else if (*time > now_ + std::chrono::days{1}) {
        flaw(FindingKind::too_old, fmt::format("made in the future, on {}; set that machine's clock and {}",
                                               started, run_again(record)));
      } else if (now_ - *time > *policy_.maximum_age) {
        flaw(FindingKind::too_old, fmt::format("made on {}, more than {} days ago; {}", started,
                                               policy_.maximum_age->count(), run_again(record)));
      } else {
        continue;
      }
      return;
    }
  }

  std::vector<std::string> starts_of(const Record& record) const {
    std::vector<std::string> starts;
    for (const BlockRange& range : record.sources) {
      for (std::uint64_t i = range.begin; i < range.end && i < result_.evidence.sources.size(); ++i)
        starts.push_back(result_.evidence.sources[i].environment.started);
    }
    if (starts.empty()) starts.push_back(result_.evidence.environment.started);
    return starts;
  }

  // --- Everything else -------------------------------------------------------------------------------------

  // No record may be wrong, required or not.
  void examine_the_rest() {
    std::set<std::string> required;
    for (const Requirement& requirement : policy_.required)
      required.insert(label(requirement) + ' ' + requirement.profile);
    for (const Record& record : result_.evidence.records) {
      Examination examination(record, expectations_);
      for (Finding& finding : examination.findings()) add(std::move(finding));
      if (examination.is_known() && !required.contains(label(record) + ' ' + record.profile))
        add(FindingKind::verdict_not_accepted, label(record),
            "known_mismatch of a record that the policy does not name; require it with \"accept\": "
            "[\"known_mismatch\"]");
    }
  }

  // An expectation that no longer concerns any record of its name (another library version, seed or profile) is
  // missed too.
  void check_expectations() {
    for (const Expectation& expectation : expectations_) {
      const auto found = by_label_.find(label(expectation));
      if (found == by_label_.end()) {
        result_.notes.push_back(label(expectation) + ": a known mismatch of which no report has the record");
        continue;
      }
      const bool concerns = std::ranges::any_of(found->second, [&](const Record* record) {
        return find_expectation(expectations_, *record) == &expectation;
      });
      if (concerns) continue;
      add(FindingKind::mismatches_vanished, label(expectation),
          fmt::format("mismatches of library \"{}\", seed {}, profile {} are expected, but the record has "
                      "\"{}\", {}, {}; "
                      "update or remove the expectation",
                      expectation.library_version, to_hex(expectation.seed), expectation.profile,
                      found->second.front()->library_version, to_hex(found->second.front()->seed),
                      found->second.front()->profile));
    }
  }

  void check_mutation_score() {
    const std::string subject = "mutation score";
    const std::optional<MutationScore>& score = result_.evidence.mutation_score;
    if (!score) {
      if (policy_.require_mutation_score)
        add(FindingKind::mutation_score, subject,
            "no report has one; run ./bitproof selftest and pass its report");
      return;
    }
    if (score->total == 0 || score->killed < score->total || score->false_alarms > 0)
      add(FindingKind::mutation_score, subject,
          fmt::format("{} of {} mutants caught, {} false alarms; strengthen the domains until all are caught "
                      "and none of "
                      "the correct ones is",
                      score->killed, score->total, score->false_alarms));
  }

  void apply_waivers() {
    const auto today = std::chrono::floor<std::chrono::days>(now_);
    for (const Waiver& waiver : policy_.waivers) {
      const std::string subject = "waiver of " + waiver.finding + " for " + label(waiver);
      if (std::chrono::sys_days{waiver.expires} < today) {
        add(FindingKind::waiver_expired, subject,
            fmt::format("expired on {}; {} must mend the cause or renew it", to_text(waiver.expires),
                        waiver.owner));
        continue;
      }
      const auto forgiven = [&](const Finding& f) {
        return f.record == label(waiver) && name(f.kind) == waiver.finding;
      };
      const std::size_t before = result_.waived.size();
      std::ranges::copy_if(result_.findings, std::back_inserter(result_.waived), forgiven);
      std::erase_if(result_.findings, forgiven);
      if (result_.waived.size() == before)
        add(FindingKind::waiver_unused, subject,
            fmt::format("forgives nothing; {} should remove it", waiver.owner));
    }
  }

  void conclude(Outcome& outcome) const {
    const std::string what = label(outcome.requirement);
    std::ranges::copy_if(result_.findings, std::back_inserter(outcome.findings), [&](const Finding& f) {
      return f.record == what || (outcome.record && f.record == label(*outcome.record));
    });
    if (!outcome.findings.empty()) return;
    const bool waived = std::ranges::any_of(result_.waived, [&](const Finding& f) {
      return f.record == what || (outcome.record && f.record == label(*outcome.record));
    });
    outcome.state = waived ? Outcome::State::waived : Outcome::State::passed;
  }

  const Policy& policy_;
  const std::vector<Expectation>& expectations_;
  const Tree& tree_;
  const std::chrono::sys_seconds now_;
  std::vector<Finding> merge_findings_;
  GateResult result_;
  std::set<std::string> said_;
  std::map<std::string, std::vector<const Record*>> by_label_;
  std::map<std::tuple<std::string, std::string, std::string, std::string, std::uint64_t>,
           std::optional<std::uint64_t>>
      expected_;
};

}  // namespace

GateResult decide(Merged merged, const Policy& policy, const std::vector<Expectation>& expectations,
                  const Tree& tree, std::chrono::sys_seconds now) {
  return Gate(std::move(merged), policy, expectations, tree, now).decide();
}

}  // namespace bitproof::conformance
