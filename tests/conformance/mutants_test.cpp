// Mutants: all are caught, each for its own reason; what they did wrong is named, shrunk, and shown by a
// program.
#include <cfenv>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/wait.h>

#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/one_element.h"
#include "conformance/elementwise/shrink.h"
#include "conformance/mutants/arithmetic.h"
#include "conformance/mutants/diagnosis.h"
#include "conformance/mutants/mutant.h"
#include "conformance/mutants/reproducer.h"
#include "conformance/mutants/self_test.h"
#include "reference/operators.h"
#include "tests/conformance/elementwise_samples.h"
#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;
using testing::kBiased;
using testing::kUnary;

TEST(Faults, AreNamedOnceWithWhatTheyMirror) {
  std::set<std::string_view> names;
  for (const FaultInfo& info : all_faults()) {
    EXPECT_TRUE(names.insert(info.name).second) << info.name;
    EXPECT_FALSE(info.does.empty() || info.mirrors.empty() || info.source.empty()) << info.name;
    EXPECT_EQ(find_fault(info.name), info.fault);
  }
  EXPECT_EQ(names.size(), 48u);
  EXPECT_EQ(find_fault("no_such_fault"), std::nullopt);
}

template <kernels::HalfType kType, class T>
std::uint64_t wrong_values(Fault fault) {
  std::uint64_t wrong = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const auto x = static_cast<std::uint16_t>(bits);
    const std::uint16_t right = reference::gelu_tanh(T{x}, reference::kPytorch211Cuda).bits;
    wrong += mutants::element<kType>(fault, x, 0, false, 0) != right ? 1 : 0;
  }
  return wrong;
}

TEST(Faults, GiveTheNumbersOfWrongValuesThatWereMeasuredOnTheCard) {
  // Non-NaN outputs that differ from CUDA eager over all 65,536 inputs, H200: tanh.approx 60 and 645, x/(1 +
  // e^-2u) 150 and 272; fma(s, v, s) loses 16,091 and 14,040 signs of zero.
  const auto bf16 = wrong_values<kernels::HalfType::bf16, reference::Bf16>;
  const auto fp16 = wrong_values<kernels::HalfType::fp16, reference::Fp16>;
  EXPECT_EQ(bf16(Fault::tanh_approx), 60u);
  EXPECT_EQ(fp16(Fault::tanh_approx), 645u);
  EXPECT_EQ(bf16(Fault::sigmoid_form), 150u);
  EXPECT_EQ(fp16(Fault::sigmoid_form), 272u);
  EXPECT_EQ(bf16(Fault::fma_tail), 16091u);
  EXPECT_EQ(fp16(Fault::fma_tail), 14040u);
  EXPECT_EQ(bf16(Fault::none), 0u);
  EXPECT_EQ(fp16(Fault::none), 0u);
}

TEST(Faults, OfAConstantOneUlpOffShowInOneValueOfFp16) {
  // x = -2.0586, whose GELU lies next to a rounding boundary.
  EXPECT_EQ((wrong_values<kernels::HalfType::fp16, reference::Fp16>(Fault::kappa_one_ulp_off)), 1u);
  EXPECT_EQ(mutants::element<kernels::HalfType::fp16>(Fault::none, 0xc01e, 0, false, 0), 0xa931);
  EXPECT_EQ(mutants::element<kernels::HalfType::fp16>(Fault::kappa_one_ulp_off, 0xc01e, 0, false, 0), 0xa930);
}

TEST(Faults, OfATruncatedSumKeepItFinite) {
  // 65504 + 65504 is infinity when it is rounded, and 65504 when it is cut; -65504 - 65504 likewise.
  const auto fp16 = mutants::element<kernels::HalfType::fp16>;
  EXPECT_EQ(fp16(Fault::sum_truncated, 0x7bff, 0x7bff, true, 0), 0x7bff);
  EXPECT_EQ(fp16(Fault::sum_rounded_half_up, 0x7bff, 0x7bff, true, 0), 0x7c00);
  EXPECT_EQ(fp16(Fault::sum_truncated, 0xfbff, 0xfbff, true, 0), 0x8000);
  EXPECT_EQ(fp16(Fault::sum_truncated, 0x7c00, 0x7bff, true, 0), 0x7c00);
}

TEST(Faults, OfTheSameBitsInBf16AreNoFaultsThere) {
  // Proved over all inputs, so leaving them out of the score hides nothing.
  for (const FaultInfo& info : all_faults()) {
    if (!info.same_bits_in_bf16) continue;
    EXPECT_FALSE(info.needs_bias);
    EXPECT_EQ((wrong_values<kernels::HalfType::bf16, reference::Bf16>(info.fault)), 0u) << info.name;
    EXPECT_GT((wrong_values<kernels::HalfType::fp16, reference::Fp16>(info.fault)), 0u) << info.name;
  }
}

TEST(SelfTest, CatchesEveryMutantOnTheCpuAndAccusesNothingCorrect) {
  SelfTestOptions options;
  options.seeds.fresh = 20260301;
  options.no_gpu_because = "not here";
  const SelfTestResult result = run_self_test(options);
  for (const MutantResult& mutant : result.mutants)
    for (const Survival& trial : mutant.trials) {
      EXPECT_TRUE(trial.killed) << trial.implementation << ' ' << trial.dtype;
      EXPECT_EQ(trial.error, "");
      EXPECT_GT(trial.inputs, 0u);
    }
  for (const Survival& correct : result.unmutated)
    EXPECT_FALSE(correct.killed) << correct.implementation << ": " << correct.how << correct.error;
  for (const Control& control : result.controls) EXPECT_TRUE(control.as_it_must()) << control.what;
  EXPECT_EQ(result.score(), (MutationScore{44, 44, 0}));
  EXPECT_EQ(result.not_run.size(), 4u);
  EXPECT_TRUE(result.passed());
}

// In which no block runs.
class AnotherRoundingMode {
 public:
  AnotherRoundingMode() { EXPECT_EQ(std::fesetround(FE_UPWARD), 0); }
  ~AnotherRoundingMode() { EXPECT_EQ(std::fesetround(FE_TONEAREST), 0); }
};

TEST(SelfTest, TakesNoErrorForAKill) {
  const SelfTestResult result = [] {
    const AnotherRoundingMode mode;
    return run_self_test(SelfTestOptions{});
  }();
  for (const MutantResult& mutant : result.mutants)
    for (const Survival& trial : mutant.trials) {
      EXPECT_FALSE(trial.killed) << trial.implementation;
      EXPECT_NE(trial.error.find("round"), std::string::npos) << trial.error;
    }
  EXPECT_EQ(result.score(), (MutationScore{0, 44, 0}));
  EXPECT_GT(result.errors(), 44u);
  EXPECT_FALSE(result.all_complete());
  EXPECT_FALSE(result.controls_hold());
  EXPECT_FALSE(result.passed());
  EXPECT_FALSE(result.failed()) << "no mutant was seen to survive";
}

TEST(SelfTest, DoesNotPassWithASurvivorAFalseAlarmABrokenControlOrAnError) {
  const auto with = [](bool killed) {
    Survival survival;
    survival.killed = killed;
    survival.complete = true;
    return survival;
  };
  SelfTestResult good;
  good.mutants = {{Fault::tanh_approx, {with(true), with(true)}}};
  good.unmutated = {with(false)};
  good.controls = {{"one flipped bit", true, with(true)}, {"no fault", false, with(false)}};
  EXPECT_TRUE(good.passed());
  EXPECT_FALSE(good.failed());
  enum class Is { failed, unknown };
  const auto becomes = [&good](const std::function<void(SelfTestResult&)>& change) {
    SelfTestResult changed = good;
    change(changed);
    EXPECT_FALSE(changed.passed());
    return changed.failed() ? Is::failed : Is::unknown;
  };
  const auto end_by_an_error = [](Survival& survival) {
    survival.killed = survival.complete = false;
    survival.error = "the worker was killed by signal 9";
  };
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.mutants[0].trials[1].killed = false; }), Is::failed);
  EXPECT_EQ(becomes([&](SelfTestResult& r) { end_by_an_error(r.mutants[0].trials[1]); }), Is::unknown);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.mutants.clear(); }), Is::unknown);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.unmutated[0].killed = true; }), Is::failed);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.unmutated.clear(); }), Is::unknown);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.unmutated[0].complete = false; }), Is::unknown);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.controls[0].survival.killed = false; }), Is::failed);
  EXPECT_EQ(becomes([&](SelfTestResult& r) { end_by_an_error(r.controls[0].survival); }), Is::unknown);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.controls[1].survival.killed = true; }), Is::failed);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.controls[1].survival.complete = false; }), Is::unknown);
  EXPECT_EQ(becomes([](SelfTestResult& r) { r.controls.clear(); }), Is::unknown);
}

TEST(SelfTest, OfTheEvidenceIsOfTheseMutants) {
  const auto evidence =
      nlohmann::json::parse(testing::read_text(BITPROOF_FIXTURES "/evidence/selftest_sm_90/selftest.json"));
  std::set<std::string> recorded, known;
  for (const auto& mutant : evidence.at("mutants"))
    if (mutant.at("killed")) recorded.insert(mutant.at("name"));
  for (const FaultInfo& info : all_faults()) known.emplace(info.name);
  EXPECT_EQ(recorded, known);
  EXPECT_EQ(evidence.at("false_alarms"), 0);
}

// The record of the first block of `domain` in which the mutant differs.
Record first_wrong_block(Fault fault, Dtype dtype, const std::string& domain) {
  const ElementwiseSubject subject = testing::subject(kBiased, dtype, host_mutant(fault),
                                                      *make_domain(domain, kBiased, dtype, Location::host, 1));
  const std::unique_ptr<Check> check = make_host_check(subject);
  for (std::uint64_t block = 0; block < subject.domain.blocks; ++block)
    if (Record record = check->run_block(block); record.first) return record;
  ADD_FAILURE() << mutant_name(fault) << " survives " << domain;
  return {};
}

struct Diagnosed {
  Fault fault;
  const char* domain;
};

TEST(Diagnosis, NamesTheMutant) {
  for (const auto& [fault, domain] : {Diagnosed{Fault::sum_not_rounded, "boundary"},
                                      {Fault::sum_truncated, "boundary"},
                                      {Fault::sum_rounded_half_away, "boundary"},
                                      {Fault::bias_added_after_gelu, "boundary"},
                                      {Fault::every_step_rounded, "values"},
                                      {Fault::tanh_approx, "values"},
                                      {Fault::sigmoid_form, "values"},
                                      {Fault::exp_quotient, "values"},
                                      {Fault::erf_form, "values"},
                                      {Fault::fma_tail, "values"},
                                      {Fault::result_truncated, "values"},
                                      {Fault::subnormal_results_flushed, "values"},
                                      {Fault::nan_of_the_cpu, "values"},
                                      {Fault::bias_by_row, "boundary"},
                                      {Fault::bias_of_lane_zero, "boundary"},
                                      {Fault::tail_not_written, "layout"},
                                      {Fault::wrong_lane_of_sixteen, "values"}}) {
    const Record record = first_wrong_block(fault, Dtype::fp16, domain);
    ASSERT_TRUE(record.first);
    EXPECT_NE(record.first->diagnosis.find(info_of(fault).does), std::string::npos)
        << info_of(fault).name << ": " << record.first->diagnosis;
  }
}

TEST(Diagnosis, SaysNothingOfAFaultThatItDoesNotKnow) {
  const auto unknown = testing::ruled_implementation([](std::uint64_t row, std::uint64_t, std::uint16_t right) {
    return static_cast<std::uint16_t>(right + (row == 3));
  });
  const auto check = make_host_check(testing::subject(
      kBiased, Dtype::bf16, unknown, *make_domain("values", kBiased, Dtype::bf16, Location::host, 1)));
  const Record record = check->run_block(0);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.first->diagnosis, "");
}

TEST(Diagnosis, SaysNothingOfBitsThatAKernelWithoutAFaultGives) {
  // Of this profile -inf gives -0, which the kernels are not written for.
  ElementwiseSubject subject =
      testing::subject(kBiased, Dtype::bf16, host_mutant(Fault::none),
                       *make_domain("values", kBiased, Dtype::bf16, Location::host, 1));
  subject.profile = reference::kPytorch211CudaLimit;
  const Record record = make_host_check(subject)->run_block(0);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.first->diagnosis, "");
}

TEST(Shrinking, EndsAtOneRowAndOneVectorWithSimpleValues) {
  const Record record = first_wrong_block(Fault::sum_not_rounded, Dtype::bf16, "random");
  ASSERT_TRUE(record.first && record.first->smallest);
  const SmallestCase& smallest = *record.first->smallest;
  EXPECT_EQ(smallest.rows, 1u);
  EXPECT_EQ(smallest.width, 8u);
  EXPECT_EQ(smallest.column, 0u);
  EXPECT_NE(smallest.expected, smallest.got);
  EXPECT_EQ(smallest.reproduce,
            "./bitproof run --op bias_gelu_tanh --dtype bf16 --impl mutant.sum_not_rounded --device cpu --seed "
            "42 --case " +
                smallest.element);
}

TEST(Shrinking, KeepsWhatTheFaultNeeds) {
  const Record record = first_wrong_block(Fault::input_read_after_output, Dtype::fp16, "layout");
  ASSERT_TRUE(record.first && record.first->smallest);
  EXPECT_EQ(record.first->smallest->layout, "in place");
}

TEST(Shrinking, FindsABiasThatIsNotTheNeighbours) {
  // The first counterexample has a bias of -0, as all other columns of a case around one element.
  const Record record = first_wrong_block(Fault::bias_index_off_by_one, Dtype::fp16, "boundary");
  ASSERT_TRUE(record.first && record.first->smallest);
  EXPECT_NE(record.first->smallest->inputs.back(), "bias=0x8000");
}

TEST(Shrinking, ToOneCaseShowsAKernelThatRemembersFromNothing) {
  for (const Fault fault : {Fault::cached_by_shape, Fault::cached_by_pointer}) {
    const Record record = first_wrong_block(fault, Dtype::bf16, "layout");
    ASSERT_TRUE(record.first && record.first->smallest) << info_of(fault).name;
    const Result<OneElement> element = parse_one_element(record.first->smallest->element);
    ASSERT_TRUE(element);
    // What goes ahead of the case is made from the seed that the command names.
    const auto fresh = make_host_check(testing::subject(kBiased, Dtype::bf16, host_mutant(fault),
                                                        domain_of(*element, kBiased, Dtype::bf16, 42)));
    const Record again = fresh->run_block(0);
    ASSERT_TRUE(again.first) << info_of(fault).name;
    EXPECT_EQ(again.first->got, record.first->smallest->got) << info_of(fault).name;
    EXPECT_EQ(again.first->reproduce, "./bitproof run --op bias_gelu_tanh --dtype bf16 --impl " +
                                          std::string(mutant_name(fault)) + " --device cpu --seed 42 --case " +
                                          record.first->smallest->element);
  }
}

TEST(Shrinking, SaysNothingOfWhatFailsOnlyOnce) {
  int calls = 0;
  Counterexample first;
  first.inputs = {"x=0x3c00", "bias=0x3c00"};
  const auto once = [&](const Case&) -> std::optional<Counterexample> {
    if (++calls == 1) return first;
    return std::nullopt;
  };
  EXPECT_FALSE(shrink(kBiased, Dtype::fp16, first, {}, once));
  EXPECT_GT(calls, 1);
}

TEST(Shrinking, OfAWriteOutsideTheOutputNeedsNoValues) {
  const Record record = first_wrong_block(Fault::one_past_the_end, Dtype::fp16, "values");
  ASSERT_TRUE(record.first && record.first->smallest);
  EXPECT_EQ(record.kinds.out_of_bounds, 1u);
  EXPECT_EQ(record.mismatches, 1u);
  EXPECT_EQ(what(*record.first), "a write to element 0 past the end of the output");
  EXPECT_EQ(record.first->expected, "0xffa5");
  EXPECT_EQ(record.first->got, "0x0000");
  EXPECT_EQ(record.first->smallest->element, "1x8,0,0,x=0x0000,bias=0x0000");
  EXPECT_EQ(in_words(*record.first->smallest),
            "[1, 8], a write to element 0 past the end of the output: expected 0xffa5, got 0x0000");
  EXPECT_FALSE(reproducer_for(record));
}

TEST(Shrinking, OfAWrongValueStaysWithItBesideAWriteOutOfBounds) {
  // Wrong for x = 1, and one element too long for all.
  const auto both = testing::spoiled_implementation([](const Tensors& t) {
    const std::int64_t elements = t.output.shape[0] * t.output.shape[1];
    for (std::int64_t i = 0; i < elements; ++i)
      if (testing::data_of(t.input)[i] == 0x3c00) testing::data_of(t.output)[i] ^= 1;
    testing::data_of(t.output)[elements] = 0;
  });
  const ElementwiseSubject subject = testing::subject(
      kBiased, Dtype::fp16, both, *make_domain("values", kBiased, Dtype::fp16, Location::host, 1));
  const Record record = make_host_check(subject)->run_block(0);
  ASSERT_TRUE(record.first && record.first->is_of_an_element() && record.first->smallest);
  EXPECT_EQ(record.kinds, (KindCounts{.value = 1, .out_of_bounds = 1}));
  EXPECT_EQ(record.first->smallest->inputs.front(), "x=0x3c00");
}

TEST(OneElement, IsReadAsItIsWritten) {
  OneElement element;
  element.rows = 9;
  element.width = 32;
  element.row = 8;
  element.column = 31;
  element.x = 0xb5a7;
  element.bias = 0x0001;
  element.in_place = true;
  EXPECT_EQ(to_text(element), "9x32,8,31,x=0xb5a7,bias=0x0001,in_place");
  EXPECT_EQ(*parse_one_element(to_text(element)), element);
  EXPECT_EQ(parse_one_element("1x16,0,3,x=0x3c00")->bias, 0x8000);
  for (const char* const text :
       {"", "1x16", "1x16,0,3", "1x16,0,3,y=0x3c00", "1x16,0,3,x=0x13c00", "1x16,0,3,x=0x", "1x16,1,3,x=0x3c00",
        "1x16,0,16,x=0x3c00", "0x16,0,0,x=0x3c00", "1x65,0,0,x=0x3c00", "1x16,0,3,x=0x3c00,bias=0x8000,inplace",
        "99999999999999999999x1,0,0,x=0x0000", ",", ",,,,,,,,"}) {
    EXPECT_FALSE(parse_one_element(text)) << text;
  }
}

TEST(OneElement, MakesItsRowAndColumnAndNothingElse) {
  OneElement element;
  element.rows = 2;
  element.width = 8;
  element.row = 1;
  element.column = 5;
  element.x = 0x3c00;
  element.bias = 0x1234;
  const Case biased = case_of(element, kBiased, Dtype::fp16, 1);
  EXPECT_EQ(biased.source.input(1, 0), 0x3c00);
  EXPECT_EQ(biased.source.input(0, 5), 0x0000);
  EXPECT_EQ(biased.source.bias(5), 0x1234);
  EXPECT_EQ(biased.source.bias(4), 0x8000);
  const Case unary = case_of(element, kUnary, Dtype::fp16, 1);
  EXPECT_EQ(unary.source.input(1, 5), 0x3c00);
  EXPECT_EQ(unary.source.input(1, 4), 0x0000);
}

TEST(Reproducer, CompilesAndShowsTheWrongBitsByItself) {
  const testing::TemporaryDirectory directory;
  for (const auto& [fault, domain] : {Diagnosed{Fault::sum_not_rounded, "boundary"},
                                      {Fault::tanh_approx, "values"},
                                      {Fault::fma_tail, "values"},
                                      {Fault::nan_to_largest, "values"},
                                      {Fault::bias_of_lane_zero, "boundary"}}) {
    const Record record = first_wrong_block(fault, Dtype::fp16, domain);
    const std::optional<Reproducer> reproducer = reproducer_for(record);
    ASSERT_TRUE(reproducer) << info_of(fault).name;
    testing::write_text(directory.path() / "reproducer.cpp", reproducer->text);
    const std::string in_directory = "cd '" + directory.path().string() + "' && ";
    ASSERT_EQ(std::system(
                  (in_directory + BITPROOF_CXX " -std=c++20 -O0 -ffp-contract=off reproducer.cpp -o reproducer")
                      .c_str()),
              0)
        << reproducer->text;
    const int raw = std::system((in_directory + "./reproducer > out").c_str());
    EXPECT_EQ(WEXITSTATUS(raw), 1) << info_of(fault).name;
    EXPECT_EQ(testing::read_text(directory.path() / "out"),
              "expected " + record.first->smallest->expected + ", got " + record.first->smallest->got + "\n");
  }
}

TEST(Reproducer, ForAGpuNeedsNoOtherFileAndHoldsNoModelOfItsInstructions) {
  Record record = first_wrong_block(Fault::tanh_approx, Dtype::fp16, "values");
  record.device = "cuda:0";
  const std::optional<Reproducer> reproducer = reproducer_for(record);
  ASSERT_TRUE(reproducer);
  EXPECT_TRUE(reproducer->file.ends_with(".cu"));
  EXPECT_EQ(reproducer->text.find("#include \""), std::string::npos);
  EXPECT_EQ(reproducer->text.find("dlpack/dlpack.h>"), std::string::npos);
  EXPECT_EQ(reproducer->text.find("namespace bitproof::reference"), std::string::npos);
}

TEST(Reproducer, ThereIsNoneOfAFaultThatIsNotInTheKernel) {
  Record record = first_wrong_block(Fault::tanh_approx, Dtype::fp16, "values");
  record.implementation = "mutant.cached_by_shape";
  EXPECT_FALSE(reproducer_for(record));
}

TEST(Reproducer, ThereIsNoneWithoutTheKernelsSource) {
  Record record = first_wrong_block(Fault::tanh_approx, Dtype::fp16, "values");
  record.implementation = "cuda.eager";
  EXPECT_FALSE(reproducer_for(record));
}

}  // namespace
}  // namespace bitproof::conformance
