// A check of linear + GELU: what it passes, what it catches, and how it explains differences.
#include "conformance/linear/check.h"

#include <algorithm>
#include <numeric>
#include <string>

#include <gtest/gtest.h>

#include "conformance/poison.h"
#include "conformance/report/combine.h"
#include "tests/conformance/linear/launchers.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Dtype;
using reference::Fp16;
using reference::Half;
using testing::eager_output;
using testing::FakeLauncher;

const LinearContract kEager = LinearContract::eager(reference::kPytorch211Cuda);
const LinearContract kEpilogue = LinearContract::epilogue(reference::kPytorch211Cuda);

template <Half T>
Record check(
    std::string_view domain_name, const LinearContract& contract, testing::OutputOf<T> output,
    typename FakeLauncher<T>::Damage damage = [](Launched<T>&, int) {}) {
  const LinearDomain domain = *make_linear_domain(domain_name, T::kDtype, Location::host, 1);
  Record record;
  record.op = "linear_gelu_tanh";
  record.dtype = reference::name(T::kDtype);
  record.implementation = "fake";
  record.domain = domain.name;
  record.device = "cpu";
  record.architecture = "x86_64";
  record.profile = contract.profile_name();
  record.equality = "bitwise";
  record.evidence = "executed";
  record.seed = 1;
  record.total = domain.total;
  record.unit = domain.unit;
  record.sampled = domain.sampled;
  record.blocks_total = domain.cases.size();
  const auto check =
      make_linear_check<T>({domain, Location::host, contract, record},
                           std::make_unique<FakeLauncher<T>>(std::move(output), std::move(damage)));
  Record sum = check->plan();
  for (std::uint64_t block = 0; block < record.blocks_total; ++block)
    sum = *combine(sum, check->run_block(block));
  return sum;
}

std::uint64_t count_of(const Record& record, std::string_view cause) {
  const auto found = std::ranges::find(record.causes, cause, &Cause::name);
  return found == record.causes.end() ? 0 : found->count;
}

TEST(LinearCheck, PassesTheBitsOfEachContract) {
  for (const char* domain : {"values", "boundary", "layout"}) {
    const Record eager = check<Bf16>(domain, kEager, eager_output<Bf16>);
    EXPECT_EQ(eager.verdict, Verdict::bit_exact) << domain << ": " << eager.reason;
    EXPECT_EQ(eager.tested, eager.total);
    EXPECT_EQ(eager.digest, eager.expected_digest);
    EXPECT_TRUE(eager.causes.empty());
    const Record epilogue = check<Fp16>(domain, kEpilogue, reference::gelu_epilogue<Fp16>);
    EXPECT_EQ(epilogue.verdict, Verdict::bit_exact) << domain << ": " << epilogue.reason;
    EXPECT_EQ(epilogue.profile, "cublaslt-13-gelu-epilogue");
  }
}

TEST(LinearCheck, RecordsTheAlgorithmsOfTheLibrary) {
  const Record record = check<Bf16>("random", kEager, eager_output<Bf16>);
  ASSERT_EQ(record.algorithms.size(), 1u);
  EXPECT_EQ(record.algorithms[0].splits, 1u);
  EXPECT_EQ(record.algorithms[0].workspace_bytes, 4096u);
  EXPECT_EQ(record.algorithms[0].shapes.size(), record.blocks_total);
}

// The epilogue held to the eager profile. On all values there is no rounding to skip. -0 cannot be an
// accumulator, so that there is one sign of zero less than against eager GELU of the same number (16,091 and
// 14,040 on the H200).
TEST(LinearCheck, SplitsTheDifferencesOfTheEpilogueInBf16) {
  const Record record = check<Bf16>("values", kEager, reference::gelu_epilogue<Bf16>);
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_EQ(record.kinds.zero_sign, 16090u);
  EXPECT_EQ(record.kinds.value, 188u);
  EXPECT_EQ(count_of(record, "sign of zero"), 16090u);
  EXPECT_EQ(count_of(record, "overflow"), 128u);
  EXPECT_EQ(count_of(record, "different GELU"), 60u);
  EXPECT_EQ(count_of(record, "rounding boundary skipped"), 0u);
  EXPECT_EQ(std::ranges::count_if(record.errors, [](std::uint8_t e) { return e != 0; }), 16090 + 188);
}

TEST(LinearCheck, SplitsTheDifferencesOfTheEpilogueInFp16) {
  const Record record = check<Fp16>("values", kEager, reference::gelu_epilogue<Fp16>);
  EXPECT_EQ(record.kinds.zero_sign, 14039u);
  EXPECT_EQ(count_of(record, "sign of zero"), 14039u);
  EXPECT_EQ(count_of(record, "different GELU"), 645u);
  EXPECT_EQ(count_of(record, "overflow"), 0u);
}

TEST(LinearCheck, FindsTheSkippedRoundingOnSumsThatAreNoNumbersOfTheDtype) {
  const Record record = check<Bf16>("random", kEager, reference::gelu_epilogue<Bf16>);
  EXPECT_GT(count_of(record, "rounding boundary skipped"), record.tested / 20);
  EXPECT_EQ(count_of(record, "unexplained by the other path"), 0u);
}

TEST(LinearCheck, CausesArePartsOfTheMismatchesWithAnExampleEach) {
  const Record record = check<Fp16>("boundary", kEager, reference::gelu_epilogue<Fp16>);
  std::uint64_t sum = 0;
  for (const Cause& cause : record.causes) {
    sum += cause.count;
    EXPECT_FALSE(cause.first.inputs.empty());
    EXPECT_NE(cause.first.expected, cause.first.got);
    EXPECT_EQ(cause.first.parts_at,
              cause.name + ": as if GELU saw the FP32 sum, in the form of cuBLASLt's epilogue");
  }
  EXPECT_EQ(sum, record.mismatches);
  EXPECT_GE(record.causes.size(), 3u);
}

TEST(LinearCheck, ExplainsAnEpilogueThatIsEagerToo) {
  const Record record = check<Bf16>("values", kEpilogue, eager_output<Bf16>);
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_EQ(count_of(record, "overflow"), 128u);
  EXPECT_EQ(record.first->parts_at.find("as if the sum were rounded") != std::string::npos, true);
}

TEST(LinearCheck, DoesNotExplainWhatNeitherPathGives) {
  const Record record = check<Bf16>("values", kEager, [](float sum) {
    const Bf16 right = eager_output<Bf16>(sum);
    return Bf16{static_cast<std::uint16_t>(sum == 1.0f ? right.bits ^ 2 : right.bits)};
  });
  EXPECT_EQ(record.mismatches, 1u);
  EXPECT_EQ(count_of(record, "unexplained by the other path"), 1u);
  EXPECT_EQ(record.first->inputs.front(), "accumulator=0x3f800000");
  EXPECT_EQ(record.first->expected, "0x3f57");
  EXPECT_EQ(record.first->got, "0x3f55");
  EXPECT_EQ(record.first->column, 0x3F80u);
  EXPECT_EQ(record.first->parts_at, "");
}

TEST(LinearCheck, CatchesARoundingBeforeTheBias) {
  // 28 % of real outputs tell linear from round(round(gemm) + bias); one case of the field is enough.
  const Record record = check<Bf16>(
      "boundary", kEager, [](float sum) { return eager_output<Bf16>(sum == 0x1.02p0f ? 1.0f : sum); });
  EXPECT_EQ(record.verdict, Verdict::mismatch);
}

TEST(LinearCheck, CountsUnwrittenElements) {
  const Record record =
      check<Bf16>("layout", kEager, eager_output<Bf16>, [](Launched<Bf16>& launched, int launch) {
        if (launch == 3) launched.outputs.back() = Bf16{kPoison};
        if (launch == 4) launched.unwritten = 5;
      });
  EXPECT_EQ(record.kinds.unwritten, 6u);
  EXPECT_EQ(record.verdict, Verdict::mismatch);
}

TEST(LinearCheck, CountsOverwrittenGuardBands) {
  const Record record = check<Bf16>("values", kEager, eager_output<Bf16>,
                                    [](Launched<Bf16>& launched, int) { launched.overwritten = 2; });
  EXPECT_EQ(record.kinds.out_of_bounds, 2u);
  EXPECT_EQ(record.verdict, Verdict::mismatch);
}

TEST(LinearCheck, NoticesALaterLaunchWithOtherBits) {
  const LinearDomain domain = *make_linear_domain("layout", Dtype::bf16, Location::host, 1);
  int launches_before = 0;
  for (const LinearCase& c : domain.cases) {
    if (c.repetitions > 1) break;
    ++launches_before;
  }
  const Record record =
      check<Bf16>("layout", kEager, eager_output<Bf16>, [&](Launched<Bf16>& launched, int launch) {
        if (launch == launches_before + 17) launched.outputs.front().bits ^= 1;
      });
  EXPECT_EQ(record.mismatches, 1u);
}

TEST(LinearCheck, ARefusalOfWhatMustBeServedIsNoPass) {
  const Record record = check<Bf16>("values", kEager, eager_output<Bf16>, [](Launched<Bf16>& launched, int) {
    launched = {};
    launched.refusal = "no algorithm with one split";
  });
  EXPECT_EQ(record.verdict, Verdict::refused);
  EXPECT_EQ(record.reason, "one-hot dot products: no algorithm with one split");
  EXPECT_EQ(record.tested, 0u);
}

TEST(LinearCheck, ServingWhatNobodyPredictsIsAnError) {
  const Record record = check<Bf16>("layout", kEager, eager_output<Bf16>,
                                    [](Launched<Bf16>& launched, int) { launched.refusal.clear(); });
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_NE(record.reason.find("must both be multiples of 8"), std::string::npos) << record.reason;
}

}  // namespace
}  // namespace bitproof::conformance
