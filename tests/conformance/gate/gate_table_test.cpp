// One good set of reports, and for every failure the smallest change that turns the gate red. Each message must
// name the record (or run, or waiver) and what to do.
#include <algorithm>
#include <functional>
#include <set>

#include <gtest/gtest.h>

#include "conformance/report/combine.h"
#include "tests/conformance/gate/world.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using testing::gpu_record;
using testing::green_world;
using testing::kBlocks;
using testing::run_gate;
using testing::World;

constexpr const char* kValues = "gelu_tanh bf16 cuda.fused values sm_90";
constexpr const char* kPairs = "gelu_tanh bf16 cuda.fused pairs sm_90";
constexpr const char* kKnown = "gelu_tanh bf16 cuda.cublaslt values sm_90";
constexpr const char* kCpuValues = "gelu_tanh bf16 host.fused values x86_64";

struct Row {
  const char* name;
  std::function<void(World&)> edit;
  std::set<std::string> kinds;  // of the findings, all of them
  std::string record;           // that one of them is about
  std::string remedy;           // in its message
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.name; }

// A part of a record's domain instead of the whole.
Record part_of(const Record& record, const BlockRange& blocks) {
  Record part = record;
  part.tested = part.digest = part.expected_digest = 0;
  return testing::tested_record(part, {&blocks, 1}, 0);
}

void nothing_tested(Record& record, Verdict verdict, const char* reason) {
  record.tested = record.digest = record.expected_digest = 0;
  record.blocks.clear();
  record.verdict = verdict;
  record.reason = reason;
}

Report second_machine(const World& world) {
  Report report = world.gpu;
  report.environment.host = "gpu2";
  return report;
}

// The policy is content with emulation of cuda.fused, and there is nothing better.
void will_emulate(World& world) {
  world.policy["required"][1]["evidence"] = "emulated";
  world.policy["required"][1]["domains"] = {"values"};
  world.gpu.records.erase(world.gpu.records.begin() + 1);
  world.values().implementation = "emulated.fused";
  world.values().device = "emulated:sm_90";
  world.values().evidence = "emulated";
}

const Row kRows[] = {
    {"AMismatch",
     [](World& w) { w.values() = gpu_record("cuda.fused", "values", 5000); },
     {"mismatch"},
     kValues,
     "reproduce it with: ./bitproof trace"},
    {"AMismatchThatCallsItselfBitExact",
     [](World& w) {
       w.values() = gpu_record("cuda.fused", "values", 5000);
       w.values().verdict = Verdict::bit_exact;
     },
     {"mismatch"},
     kValues,
     "reproduce it with"},
    {"AMismatchOfARecordThatNobodyRequires",
     [](World& w) { w.gpu.records.push_back(gpu_record("cuda.fused", "layout", 5000)); },
     {"mismatch"},
     "gelu_tanh bf16 cuda.fused layout sm_90",
     "reproduce it with"},
    {"AnErrorOfARecordThatNobodyRequires",
     [](World& w) {
       w.gpu.records.push_back(gpu_record("cuda.fused", "layout", 0));
       nothing_tested(w.gpu.records.back(), Verdict::error, "the worker died");
     },
     {"error"},
     "gelu_tanh bf16 cuda.fused layout sm_90",
     "run again"},

    {"KnownMismatchesGrew",
     [](World& w) { w.known_wrong() = gpu_record("cuda.cublaslt", "values", 500); },
     {"mismatches_grew"},
     kKnown,
     "commit a new expectation only if"},
    {"KnownMismatchesShrank",
     [](World& w) { w.known_wrong() = gpu_record("cuda.cublaslt", "values", 2000); },
     {"mismatches_shrank"},
     kKnown,
     "commit the smaller expectation"},
    {"KnownMismatchesVanished",
     [](World& w) { w.known_wrong() = gpu_record("cuda.cublaslt", "values", 0); },
     {"mismatches_vanished", "verdict_not_accepted"},
     kKnown,
     "remove the expectation"},
    {"KnownMismatchesAreOthers",
     [](World& w) { w.known_wrong().digest += 1; },
     {"mismatches_changed"},
     kKnown,
     "find what changed"},
    {"KnownMismatchesOfAnotherLibrary",
     [](World& w) { w.known_wrong().library_version = "13.2.0"; },
     {"mismatch", "mismatches_vanished"},
     kKnown,
     "update or remove the expectation"},
    {"KnownMismatchesWithoutAnExpectation",
     [](World& w) { w.expectations["expectations"].clear(); },
     {"mismatch"},
     kKnown,
     "reproduce it with"},
    {"KnownMismatchesThatThePolicyDoesNotAccept",
     [](World& w) { w.policy["required"][2].erase("accept"); },
     {"verdict_not_accepted"},
     kKnown,
     "name it under \"accept\""},
    {"KnownMismatchesThatThePolicyDoesNotName",
     [](World& w) { w.policy["required"].erase(2); },
     {"verdict_not_accepted"},
     kKnown,
     "require it with \"accept\""},
    {"AVerdictWithinItsContractThatThePolicyDoesNotAccept",
     [](World& w) {
       w.values() = gpu_record("cuda.fused", "values", 5000);
       w.values().equality = "ulp<=64";
       w.values().verdict = Verdict::within_contract;
       w.policy["required"][1]["equality"] = "ulp<=64";
       w.pairs().equality = "ulp<=64";
     },
     {"verdict_not_accepted"},
     kValues,
     "name it under \"accept\""},

    {"AnArchitectureWithoutAnyReport",
     [](World& w) { w.gpu.records.clear(); },
     {"missing"},
     kValues,
     "run ./bitproof run --op gelu_tanh --dtype bf16 --impl cuda.fused --domain values on sm_90"},
    {"ARecordThatVanished",
     [](World& w) { w.gpu.records.erase(w.gpu.records.begin() + 1); },
     {"vanished"},
     kPairs,
     "find out who removed it"},
    {"NotRun",
     [](World& w) { nothing_tested(w.values(), Verdict::not_run, "no CUDA device"); },
     {"not_run"},
     kValues,
     "(no CUDA device); run again: ./bitproof run"},
    {"NotRunThoughComplete",
     [](World& w) { w.values().verdict = Verdict::not_run; },
     {"not_run"},
     kValues,
     "run again"},
    {"Refused",
     [](World& w) { nothing_tested(w.values(), Verdict::refused, "width not positive"); },
     {"refused"},
     kValues,
     "(width not positive); serve the input"},
    {"Error",
     [](World& w) { nothing_tested(w.values(), Verdict::error, "the worker died"); },
     {"error"},
     kValues,
     "the worker died; run again"},
    {"NothingTestedThatCallsItselfBitExact",
     [](World& w) { nothing_tested(w.values(), Verdict::bit_exact, ""); },
     {"no_coverage"},
     kValues,
     "0/65536 values tested; run again"},
    {"PartOfADomain",
     [](World& w) {
       w.pairs() = part_of(w.pairs(), {0, 63});
     },
     {"partial_coverage"},
     kPairs,
     "complete it with ./bitproof run --resume"},
    {"PartOfADomainThatCallsItselfBitExact",
     [](World& w) {
       w.pairs() = part_of(w.pairs(), {1, 64});
       w.pairs().verdict = Verdict::bit_exact;
     },
     {"partial_coverage"},
     kPairs,
     "complete it with"},
    {"ADomainThatWasMadeSmaller",
     [](World& w) {
       w.policy["required"][1]["minimum_tested"] = {{"pairs", 4294967296}};
     },
     {"partial_coverage"},
     kPairs,
     "enlarge the domain again"},

    {"NumbersThatContradictEachOther",
     [](World& w) { w.values().digest += 1; },
     {"contradiction"},
     kValues,
     "run again"},
    {"KindsThatDoNotAddUp",
     [](World& w) {
       w.values() = gpu_record("cuda.fused", "values", 5000);
       w.values().kinds.value -= 1;
     },
     {"contradiction"},
     kValues,
     "run again"},
    {"AMismatchThatTheNumbersDoNotShow",
     [](World& w) { w.values().verdict = Verdict::mismatch; },
     {"contradiction"},
     kValues,
     "run again"},

    {"EvidenceOfOtherMachineCode",
     [](World& w) { w.values().machine_code_key = "b"; },
     {"stale_machine_code"},
     kValues,
     "run again"},
    {"ATreeWithOtherMachineCodeForOneArchitecture",
     [](World& w) {
       w.tree.machine_code_key = [](const Record& record) {
         return std::string(64, record.architecture == "sm_90" ? 'b' : 'a');
       };
     },
     {"stale_machine_code"},
     kPairs,
     "made with machine code aaaaaaaaaaaa, the tree has bbbbbbbbbbbb"},
    {"ATreeWithoutThatMachineCode",
     [](World& w) {
       w.tree.machine_code_key = [](const Record& record) -> std::optional<std::string> {
         if (record.architecture == "sm_90") return std::nullopt;
         return std::string(64, 'a');
       };
     },
     {"stale_machine_code"},
     kValues,
     "build it for that architecture"},
    {"AReferenceThatChanged",
     [](World& w) {
       w.tree.expected_digest = [old = w.tree.expected_digest](const auto& op, const auto& dtype,
                                                               const auto& profile, const std::string& domain,
                                                               std::uint64_t seed) {
         return *old(op, dtype, profile, domain, seed) + (domain == "pairs" ? 1 : 0);
       };
     },
     {"stale_reference"},
     kPairs,
     "run again"},
    {"AReferenceThatCannotTell",
     [](World& w) {
       w.tree.expected_digest = [](const auto&, const auto&, const auto&, const auto&, std::uint64_t) {
         return std::optional<std::uint64_t>{};
       };
     },
     {"stale_reference"},
     kCpuValues,
     "restore the operator"},
    {"AnotherProfile",
     [](World& w) { w.values().profile = "pytorch-2.12-cuda"; },
     {"wrong_profile"},
     kValues,
     "the policy requires pytorch-2.11-cuda"},
    {"AWeakerEquality",
     [](World& w) { w.values().equality = "ulp<=1"; },
     {"wrong_equality"},
     kValues,
     "the policy requires bitwise"},
    {"EmulatedEvidence",
     [](World& w) { w.values().evidence = "emulated"; },
     {"wrong_evidence"},
     kValues,
     "the policy requires executed"},
    {"EmulatedEvidenceThatCallsItselfExecuted",
     [](World& w) {
       will_emulate(w);
       w.values().evidence = "executed";
     },
     {"contradiction"},
     "gelu_tanh bf16 emulated.fused values sm_90",
     "called executed, but its implementation is emulated; run again: ./bitproof run --op gelu_tanh"},
    {"EmulatedEvidenceOfAnotherMachineCode",
     [](World& w) {
       will_emulate(w);
       w.values().machine_code_key = "old";
     },
     {"stale_machine_code"},
     "gelu_tanh bf16 emulated.fused values sm_90",
     "--device emulated:sm_90"},
    {"NoEmulatedEvidence",
     [](World& w) {
       will_emulate(w);
       w.gpu.records.erase(w.gpu.records.begin());
     },
     {"missing"},
     kValues,
     "--impl emulated.fused --domain values --device emulated:sm_90"},
    {"AuditedWhereEmulatedIsRequired",
     [](World& w) {
       will_emulate(w);
       w.values().evidence = "audited";
     },
     {"wrong_evidence"},
     "gelu_tanh bf16 emulated.fused values sm_90",
     "the policy requires emulated"},
    {"OldEvidence",
     [](World& w) {
       w.policy["maximum_age_days"] = 30;
       w.gpu.environment.started = "2026-01-30T12:00:00Z";  // 31 days before the world's today
     },
     {"too_old"},
     kValues,
     "more than 30 days ago; run again"},
    {"EvidenceFromTheFuture",
     [](World& w) {
       w.policy["maximum_age_days"] = 30;
       w.gpu.environment.started = "2026-04-01T12:00:00Z";
     },
     {"too_old"},
     kValues,
     "set that machine's clock"},
    {"EvidenceWithoutADate",
     [](World& w) {
       w.policy["maximum_age_days"] = 30;
       w.gpu.environment.started = "";
     },
     {"too_old"},
     kValues,
     "does not say when"},

    {"AnUnsupportedSchemaVersion",
     [](World& w) { w.gpu.schema.major = 2; },
     {"unsupported_schema", "missing"},
     "",
     "use the bitproof that wrote the report"},
    {"ShardsFromDifferentBuildsOfTheTool",
     [](World& w) { w.cpu_second.environment.tool_build = "build-2"; },
     {"mixed_tool_builds", "shard_missing", "partial_coverage"},
     "run ",
     "run all shards with one build"},
    {"AMissingShard",
     [](World& w) { w.cpu_second = w.cpu_first; },
     {"shard_missing", "partial_coverage"},
     "run ",
     "1 of 2 shards are missing: 1/2; pass their reports, or run them with --shard"},
    {"AShardThatLostARecord",
     [](World& w) { w.cpu_second.records.pop_back(); },
     {"shard_missing", "partial_coverage"},
     "gelu_tanh bf16 host.fused random x86_64",
     "run that shard again"},
    {"AShardOfAnotherDivision",
     [](World& w) { w.cpu_second.shard.count = 3; },
     {"shard_conflict", "shard_missing", "partial_coverage"},
     "run ",
     "pass the shards of one division"},
    {"ShardsThatOverlap",
     [](World& w) { w.cpu_second.records[0] = testing::perfect_record("gelu_tanh"); },
     {"shard_conflict", "shard_missing", "partial_coverage"},
     kCpuValues,
     "pass each shard once"},
    {"TwoShardsWithDifferentDigestsOfTheSameBlocks",
     [](World& w) {
       w.more.push_back(w.cpu_second);
       w.more[0].environment.host = "cpu3";
       w.more[0].records[0].digest += 1;
     },
     {"nondeterminism"},
     kCpuValues,
     "run both again"},
    {"TwoMachinesWithDifferentDigests",
     [](World& w) {
       w.more.push_back(second_machine(w));
       w.more[0].records[0] = gpu_record("cuda.fused", "values", 5000);
     },
     {"nondeterminism", "mismatch"},
     kValues,
     "suspect a race"},
    {"TwoMachinesWithDifferentReferences",
     [](World& w) {
       w.more.push_back(second_machine(w));
       w.more[0].records[1].digest += 1;
       w.more[0].records[1].expected_digest += 1;
     },
     {"stale_reference"},
     kPairs,
     "run again the one with the older reference"},

    {"AMutantThatSurvived",
     [](World& w) {
       w.gpu.mutation_score = MutationScore{19, 20, 0};
     },
     {"mutation_score"},
     "mutation score",
     "strengthen the domains"},
    {"AFalseAlarmOfTheSelftest",
     [](World& w) {
       w.gpu.mutation_score = MutationScore{20, 20, 1};
     },
     {"mutation_score"},
     "mutation score",
     "1 false alarms"},
    {"ASelftestWithoutMutants",
     [](World& w) { w.gpu.mutation_score = MutationScore{}; },
     {"mutation_score"},
     "mutation score",
     "strengthen the domains"},
    {"ARequiredSelftestThatIsMissing",
     [](World& w) { w.policy["require_mutation_score"] = true; },
     {"mutation_score"},
     "mutation score",
     "run ./bitproof selftest"},
    {"AnExpiredWaiver",
     [](World& w) {
       w.values() = gpu_record("cuda.fused", "values", 5000);
       w.waive("mismatch", "values", "2026-03-01");  // the day before the world's today
     },
     {"waiver_expired", "mismatch"},
     "waiver of mismatch for gelu_tanh bf16 cuda.fused values sm_90",
     "kernels team must mend the cause or renew it"},
    {"AnUnusedWaiver",
     [](World& w) { w.waive("mismatch", "values", "2026-12-31"); },
     {"waiver_unused"},
     "waiver of mismatch for gelu_tanh bf16 cuda.fused values sm_90",
     "kernels team should remove it"},
    {"AWaiverOfAnotherFinding",
     [](World& w) {
       w.values() = gpu_record("cuda.fused", "values", 5000);
       w.waive("not_run", "values", "2026-12-31");
     },
     {"mismatch", "waiver_unused"},
     kValues,
     "reproduce it with"},
    {"AWaiverOfAnotherRecord",
     [](World& w) {
       w.values() = gpu_record("cuda.fused", "values", 5000);
       w.waive("mismatch", "pairs", "2026-12-31");
     },
     {"mismatch", "waiver_unused"},
     kValues,
     "reproduce it with"},
};

class GateTable : public ::testing::TestWithParam<Row> {};

TEST_P(GateTable, IsRedAndSaysWhatIsWrongAndWhatToDo) {
  const Row& row = GetParam();
  World world = green_world();
  row.edit(world);
  const testing::GateRun run = run_gate(world);
  EXPECT_EQ(run.status, 1);
  ASSERT_TRUE(run.json.is_object()) << run.out << run.err;
  EXPECT_EQ(run.json["passed"], false);

  std::set<std::string> kinds;
  bool named = false;
  for (const auto& finding : run.json["findings"]) {
    kinds.insert(finding["kind"]);
    const std::string record = finding["record"], message = finding["message"];
    EXPECT_TRUE(message.starts_with(record)) << message;
    named = named || (record.starts_with(row.record) && message.find(row.remedy) != std::string::npos);
  }
  EXPECT_EQ(kinds, row.kinds) << run.json["findings"].dump(2);
  EXPECT_TRUE(named) << "no message about " << row.record << " with \"" << row.remedy << "\" in\n"
                     << run.json["findings"].dump(2);
}

INSTANTIATE_TEST_SUITE_P(Each, GateTable, ::testing::ValuesIn(kRows),
                         [](const auto& row) { return row.param.name; });

TEST(Gate, IsGreenInTheGreenWorld) {
  const testing::GateRun run = run_gate(green_world());
  EXPECT_EQ(run.status, 0) << run.out << run.err;
  EXPECT_EQ(run.json["passed"], true);
  EXPECT_TRUE(run.json["findings"].empty());
  EXPECT_EQ(run.json["required"].size(), 6u);
  for (const auto& record : run.json["required"]) EXPECT_EQ(record["state"], "passed");
}

TEST(Gate, EveryKindOfFindingHasARow) {
  std::set<std::string> covered{"unreadable"};  // status 2, tested with the commands
  for (const Row& row : kRows) covered.insert(row.kinds.begin(), row.kinds.end());
  for (int kind = 0; kind <= static_cast<int>(FindingKind::waiver_unused); ++kind)
    EXPECT_TRUE(covered.contains(std::string{name(static_cast<FindingKind>(kind))}))
        << name(static_cast<FindingKind>(kind));
}

TEST(Gate, EmulationServesWhereThePolicyIsContentWithItAndIsCalledSo) {
  World world = green_world();
  will_emulate(world);
  const testing::GateRun run = run_gate(world);
  EXPECT_EQ(run.status, 0) << run.out;
  for (const auto& record : run.json["required"])
    EXPECT_EQ(record["evidence"], record["record"] == kValues ? "emulated" : "executed") << record.dump();
  const testing::GateRun people = run_gate(world, {});
  EXPECT_NE(people.out.find("1 emulated"), std::string::npos) << people.out;
}

// What was emulated is called so beside what was waived, and what was only read is not called emulated.
TEST(Gate, EveryKindOfEvidenceIsCalledByItsName) {
  World waived = green_world();
  waived.policy["required"][1]["evidence"] = "emulated";
  waived.values().implementation = "emulated.fused";
  waived.values().device = "emulated:sm_90";
  waived.values().evidence = "emulated";
  waived.pairs() = gpu_record("cuda.fused", "pairs", 5000);
  waived.waive("mismatch", "pairs", "2026-03-02");
  const testing::GateRun with_waiver = run_gate(waived, {});
  EXPECT_EQ(with_waiver.status, 0) << with_waiver.out;
  EXPECT_NE(with_waiver.out.find("pass 3/3, 1 emulated, 1 waived"), std::string::npos) << with_waiver.out;

  World read = green_world();
  will_emulate(read);
  read.policy["required"][1]["evidence"] = "audited";
  read.values().evidence = "audited";
  const testing::GateRun with_audit = run_gate(read, {});
  EXPECT_EQ(with_audit.status, 0) << with_audit.out;
  EXPECT_NE(with_audit.out.find("pass 2/2, 1 audited"), std::string::npos) << with_audit.out;
}

TEST(Gate, ExecutionServesWhereEmulationWouldDo) {
  World world = green_world();
  world.policy["required"][1]["evidence"] = "emulated";
  Record emulated = gpu_record("emulated.fused", "values", 0);
  emulated.evidence = "emulated";
  world.gpu.records.push_back(emulated);
  const testing::GateRun run = run_gate(world);
  EXPECT_EQ(run.status, 0) << run.out;
  for (const auto& record : run.json["required"]) EXPECT_EQ(record["evidence"], "executed") << record.dump();
}

TEST(Gate, AWrongEmulationIsRedEvenWhereTheCardIsRight) {
  World world = green_world();
  Record emulated = gpu_record("emulated.fused", "values", 5000);
  emulated.evidence = "emulated";
  world.gpu.records.push_back(emulated);
  EXPECT_EQ(run_gate(world).status, 1);
}

TEST(Gate, AWaiverForgivesOnItsLastDayAndIsShown) {
  World world = green_world();
  world.values() = gpu_record("cuda.fused", "values", 5000);
  world.waive("mismatch", "values", "2026-03-02");  // the world's today
  const testing::GateRun run = run_gate(world);
  EXPECT_EQ(run.status, 0) << run.out;
  ASSERT_EQ(run.json["waived"].size(), 1u);
  EXPECT_EQ(run.json["waived"][0]["record"], kValues);
  const auto& required = run.json["required"];
  EXPECT_EQ(std::ranges::count_if(required, [](const auto& r) { return r["state"] == "waived"; }), 1);
}

// "cuda.cublaslt" is right under a profile of its own and known to be wrong under the policy's.
World world_with_two_profiles() {
  World world = green_world();
  Record right = gpu_record("cuda.cublaslt", "values", 0);
  right.profile = "cublaslt-13-gelu-epilogue";
  world.gpu.records.push_back(right);
  world.policy["required"].push_back(world.policy["required"][2]);
  world.policy["required"][3].erase("accept");
  world.policy["required"][3]["profile"] = right.profile;
  return world;
}

TEST(Gate, HoldsAnImplementationToEachProfileThatIsRequired) {
  World world = world_with_two_profiles();
  EXPECT_EQ(run_gate(world).status, 0) << run_gate(world).out;

  World without_own = world;
  without_own.gpu.records.pop_back();
  EXPECT_EQ(run_gate(without_own).status, 1) << "the record of the other profile does not stand in for it";

  World wrong_by_own = world;
  const std::string profile = world.gpu.records.back().profile;
  wrong_by_own.gpu.records.back() = gpu_record("cuda.cublaslt", "values", 1000);
  wrong_by_own.gpu.records.back().profile = profile;
  EXPECT_EQ(run_gate(wrong_by_own).status, 1) << "what is known of one profile is not known of the other";

  World not_named = world;
  not_named.policy["required"].erase(2);
  EXPECT_EQ(run_gate(not_named).status, 1) << "a known mismatch passes only where its profile is named";
}

TEST(Gate, AStaleRecordBesideAFreshOneDoesNotMatter) {
  World world = green_world();
  world.more.push_back(second_machine(world));
  for (Record& record : world.more[0].records) record.machine_code_key = "old";
  world.more[0].run_id = "older run";
  world.more[0].records.pop_back();
  EXPECT_EQ(run_gate(world).status, 0) << run_gate(world).out;
}

TEST(Gate, AWrongRecordBesideARightOneDoesMatter) {
  // Of other machine code, so it is not the same code being nondeterministic, but it is evidence that was
  // passed.
  World world = green_world();
  world.more.push_back(second_machine(world));
  world.more[0].records = {gpu_record("cuda.fused", "values", 5000)};
  world.more[0].records[0].machine_code_key = "old";
  EXPECT_EQ(run_gate(world).status, 1);
}

TEST(Gate, AgreeingMachinesConfirmEachOther) {
  World world = green_world();
  world.more.push_back(second_machine(world));
  EXPECT_EQ(run_gate(world).status, 0) << run_gate(world).out;
}

TEST(Gate, ADeviceThatWasMissingIsNamedWithTheReason) {
  World world = green_world();
  for (Record& record : world.gpu.records) {
    nothing_tested(record, Verdict::not_run, "no CUDA device: no driver");
    record.architecture = "cuda";
    record.kinds = {};
    record.mismatches = record.max_ulp = 0;
    record.first.reset();
  }
  const testing::GateRun run = run_gate(world);
  EXPECT_EQ(run.status, 1);
  EXPECT_NE(run.out.find("no report has it (no CUDA device: no driver)"), std::string::npos) << run.out;
}

TEST(Gate, CompiledOnlyIsPrintedAndNeverCountedAsAPass) {
  const testing::GateRun run = run_gate(green_world(), {});
  EXPECT_EQ(run.status, 0);
  EXPECT_NE(run.out.find("compiled only, not counted as a pass:\n  sm_80  no card\n"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("6 of 6 required records passed"), std::string::npos) << run.out;
}

TEST(Gate, AsksTheReferenceOncePerDomainHoweverManyImplementationsShareIt) {
  World world = green_world();
  int asked = 0;
  world.tree.expected_digest = [&asked, old = world.tree.expected_digest](
                                   const auto& op, const auto& dtype, const auto& profile, const auto& domain,
                                   std::uint64_t seed) {
    ++asked;
    return old(op, dtype, profile, domain, seed);
  };
  EXPECT_EQ(run_gate(world).status, 0);
  EXPECT_EQ(asked, 3);  // values, boundary, pairs; `random` is not recomputed
}

}  // namespace
}  // namespace bitproof::conformance
