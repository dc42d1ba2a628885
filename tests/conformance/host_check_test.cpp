// The harness on the CPU: right implementations pass, and implementations that are wrong in one way are caught,
// counted under the right kind, and located.
#include <cfenv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "conformance/elementwise/pairs_factored_check.h"
#include "reference/environment.h"
#include "reference/operators.h"
#include "tests/conformance/elementwise_samples.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Dtype;
using reference::Fp16;
using testing::kBiased;
using testing::kUnary;

using Bits = std::optional<std::uint16_t>;

ElementwiseImplementation right() {
  return testing::ruled_implementation([](auto, auto, std::uint16_t bits) { return Bits(bits); });
}

// One launch of 5 x 64 biased bf16 elements.
Record run_random(ElementwiseImplementation implementation) {
  return testing::run_all(testing::subject(kBiased, Dtype::bf16, std::move(implementation),
                                           testing::random_domain(kBiased, Dtype::bf16, 1, 5, 64)));
}

Record run_named(std::string_view domain, const ElementwiseOperator& op, Dtype dtype,
                 ElementwiseImplementation implementation) {
  return testing::run_all(testing::subject(op, dtype, std::move(implementation),
                                           *make_domain(domain, op, dtype, Location::host, 42)));
}

TEST(HostCheck, TheProductionKernelIsBitExact) {
  for (const std::string_view domain : {"values", "boundary", "layout"})
    for (const ElementwiseOperator& op : kElementwiseOperators)
      for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
        const Record record = run_named(domain, op, dtype, host_implementations().front());
        EXPECT_EQ(record.verdict, Verdict::bit_exact) << domain << ' ' << op.name << ": " << record.reason;
        EXPECT_EQ(record.tested, record.total);
        EXPECT_GT(record.tested, 0u);
        EXPECT_EQ(record.mismatches, 0u);
        EXPECT_EQ(record.digest, record.expected_digest);
        EXPECT_NE(record.digest, 0u);
        EXPECT_TRUE(record.errors.empty());
        EXPECT_FALSE(record.first);
      }
}

TEST(HostCheck, ARightImplementationIsBitExact) {
  const Record record = run_random(right());
  EXPECT_EQ(record.verdict, Verdict::bit_exact);
  EXPECT_EQ(record.tested, 320u);
  EXPECT_EQ(record.kinds, KindCounts{});
}

TEST(HostCheck, LocatesOneWrongLaneOfTheLastRow) {
  const auto subject = testing::subject(
      kBiased, Dtype::bf16,
      testing::ruled_implementation([](std::uint64_t row, std::uint64_t column, std::uint16_t bits) {
        return Bits(row == 4 && column == 29 ? bits ^ 2 : bits);
      }),
      testing::random_domain(kBiased, Dtype::bf16, 3, 5, 64));
  const std::unique_ptr<Check> check = make_host_check(subject);
  const Record record = check->run_block(1);
  EXPECT_EQ(record.blocks, (std::vector<BlockRange>{{1, 2}}));
  EXPECT_EQ(record.mismatches, 1u);
  EXPECT_NE(record.digest, record.expected_digest);
  ASSERT_TRUE(record.first);

  const Case c = subject.domain.make_case(1);
  const Bf16 x{c.source.input(4, 29)}, bias{c.source.bias(29)};
  const Bf16 expected = reference::bias_gelu_tanh(x, bias, reference::kPytorch211Cuda);
  const Bf16 got{static_cast<std::uint16_t>(expected.bits ^ 2)};
  const Counterexample& first = *record.first;
  EXPECT_EQ(first.inputs, (std::vector<std::string>{fmt::format("x=0x{:04x}", x.bits),
                                                    fmt::format("bias=0x{:04x}", bias.bits)}));
  EXPECT_EQ(first.expected, fmt::format("0x{:04x}", expected.bits));
  EXPECT_EQ(first.got, fmt::format("0x{:04x}", got.bits));
  EXPECT_EQ(first.rows, 5u);
  EXPECT_EQ(first.width, 64u);
  EXPECT_EQ(first.row, 4u);
  EXPECT_EQ(first.column, 29u);
  EXPECT_EQ(first.vector_lane, 5u) << "vectors have 8 elements, 29 = 3 * 8 + 5";
  EXPECT_EQ(first.block, 1u);
  EXPECT_EQ(first.layout, "contiguous");
  EXPECT_EQ(first.reproduce,
            "./bitproof run --op bias_gelu_tanh --dtype bf16 --impl host.sample --domain random --device cpu "
            "--seed 42 --block 1");
}

TEST(HostCheck, DescribesAWrongValueWithBitsNumberAndDistance) {
  // gelu(1) is 0x3ABB in fp16, 0.8413; four ULP above is 0x3ABF.
  const Record record =
      run_named("values", kUnary, Dtype::fp16,
                testing::ruled_implementation([](std::uint64_t row, std::uint64_t column, std::uint16_t bits) {
                  return Bits(row * 1024 + column == 0x3C00 ? 0x3ABF : bits);
                }));
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.first->inputs, std::vector<std::string>{"x=0x3c00"});
  EXPECT_EQ(record.first->expected, "0x3abb");
  EXPECT_EQ(record.first->got, "0x3abf");
  EXPECT_EQ(record.first->kind, "value");
  EXPECT_EQ(record.first->expected_value, double{reference::widen(Fp16{0x3ABB})});
  EXPECT_EQ(record.first->got_value, double{reference::widen(Fp16{0x3ABF})});
  EXPECT_EQ(record.first->ulp, 4u);
  EXPECT_EQ(record.max_ulp, 4u);
  EXPECT_EQ(record.ulp_histogram[3], 1u);
}

TEST(HostCheck, NamesTheStepThatASkippedRoundingLacks) {
  const auto unrounded = testing::spoiled_implementation([](const Tensors& t) {
    reference::Profile profile = reference::kPytorch211Cuda;
    profile.sum_rounding = reference::SumRounding::none;
    for (std::int64_t i = 0; i < t.input.shape[0] * t.input.shape[1]; ++i)
      testing::data_of(t.output)[i] =
          reference::bias_gelu_tanh(Bf16{testing::data_of(t.input)[i]},
                                    Bf16{testing::data_of(t.bias)[i % t.input.shape[1]]}, profile)
              .bits;
  });
  const Record record = run_named("boundary", kBiased, Dtype::bf16, unrounded);
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.first->parts_at, "rounded sum: as if the sum were not rounded to the dtype");
}

TEST(HostCheck, FindsABiasIndexThatIsOffByOne) {
  const Record record = run_random(testing::spoiled_implementation([](const Tensors& t) {
    const std::int64_t width = t.input.shape[1];
    for (std::int64_t i = 0; i < t.input.shape[0] * width; ++i)
      testing::data_of(t.output)[i] =
          reference::bias_gelu_tanh(Bf16{testing::data_of(t.input)[i]},
                                    Bf16{testing::data_of(t.bias)[(i + 1) % width]}, reference::kPytorch211Cuda)
              .bits;
  }));
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_GT(record.kinds.value, 50u);
}

TEST(HostCheck, CountsAFlippedSignOfZero) {
  const Record record = run_named("boundary", kBiased, Dtype::bf16,
                                  testing::ruled_implementation([](auto, auto, std::uint16_t bits) {
                                    return Bits(bits == 0x8000 ? 0x0000 : bits);
                                  }));
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_GT(record.kinds.zero_sign, 0u);
  EXPECT_EQ(record.kinds.zero_sign, record.mismatches);
  EXPECT_EQ(record.max_ulp, 0u);
  EXPECT_EQ(record.ulp_histogram[0], record.mismatches);
  EXPECT_EQ(record.first->kind, "zero_sign");
}

TEST(HostCheck, CountsAnotherNanPayload) {
  const Record record = run_named("boundary", kUnary, Dtype::fp16,
                                  testing::ruled_implementation([](auto, auto, std::uint16_t bits) {
                                    return Bits(bits == 0x7FFF ? 0x7E00 : bits);
                                  }));
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_GT(record.kinds.nan_bits, 0u);
  EXPECT_EQ(record.kinds.nan_bits, record.mismatches);
  EXPECT_EQ(record.first->kind, "nan_bits");
}

TEST(HostCheck, CountsAnUnwrittenTail) {
  const Record record =
      run_random(testing::ruled_implementation([](std::uint64_t row, std::uint64_t column, std::uint16_t bits) {
        return row == 4 && column >= 56 ? std::nullopt : Bits(bits);
      }));
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_EQ(record.kinds, (KindCounts{.unwritten = 8}));
  EXPECT_EQ(record.first->row, 4u);
  EXPECT_EQ(record.first->column, 56u);
  EXPECT_EQ(record.first->vector_lane, 0u);
  EXPECT_EQ(record.first->got, "0xffa5");
  EXPECT_EQ(record.first->parts_at, "the element was never written");
  EXPECT_EQ(record.first->ulp, 0u);
}

TEST(HostCheck, CountsAKernelThatDoesNothing) {
  const Record record = run_random(testing::ruled_implementation([](auto, auto, auto) { return Bits(); }));
  EXPECT_EQ(record.kinds, (KindCounts{.unwritten = 320}));
}

TEST(HostCheck, CountsWritesBeforeAndBehindTheOutput) {
  const Record record = run_random(testing::spoiled_implementation([](const Tensors& t) {
    testing::data_of(t.output)[5 * 64] = 0;
    testing::data_of(t.output)[-1] = 0;
  }));
  EXPECT_EQ(record.verdict, Verdict::mismatch);
  EXPECT_EQ(record.kinds, (KindCounts{.out_of_bounds = 2}));
  ASSERT_TRUE(record.first);
  EXPECT_FALSE(record.first->is_of_an_element()) << "none of the output is wrong";
  EXPECT_EQ(record.first->kind, "out_of_bounds");
  EXPECT_EQ(what(*record.first), "a write to element 1 before the start of the output");
  EXPECT_EQ(where(*record.first), "a [5, 64] tensor");
  EXPECT_EQ(record.first->expected, "0xffa5");
  EXPECT_EQ(record.first->got, "0x0000");
}

TEST(HostCheck, CountsWritesIntoInputAndBias) {
  EXPECT_EQ(run_random(testing::spoiled_implementation([](const Tensors& t) {
              testing::data_of(t.input)[7] ^= 1;
            })).kinds,
            (KindCounts{.out_of_bounds = 1}));
  EXPECT_EQ(run_random(testing::spoiled_implementation([](const Tensors& t) {
              testing::data_of(t.bias)[63] ^= 1;
            })).kinds,
            (KindCounts{.out_of_bounds = 1}));
}

// A case of 3 x 64 biased elements with a layout.
ElementwiseSubject one_case(const Layout& layout, ElementwiseImplementation implementation) {
  Case c = testing::random_domain(kBiased, Dtype::bf16, 1, 3, 64).make_case(0);
  c.layout = layout;
  return testing::subject(kBiased, Dtype::bf16, std::move(implementation), testing::domain_of_one_case(c));
}

TEST(HostCheck, CountsWritesIntoTheGapsBetweenRows) {
  const Layout layout{.row_gap = 16};
  EXPECT_EQ(testing::run_all(one_case(layout, right())).verdict, Verdict::bit_exact);
  const Record record = testing::run_all(one_case(
      layout, testing::spoiled_implementation([](const Tensors& t) { testing::data_of(t.output)[64] = 0; })));
  EXPECT_EQ(record.kinds, (KindCounts{.out_of_bounds = 1}));
}

TEST(HostCheck, ServesInPlace) {
  const Record record = testing::run_all(one_case({.aliasing = Aliasing::in_place}, right()));
  EXPECT_EQ(record.verdict, Verdict::bit_exact) << record.reason;
  EXPECT_EQ(record.tested, 1u);
}

constexpr Layout kPlain{};
constexpr Layout kMisaligned{.input_offset = 1};

TEST(HostCheck, AllowsARefusalOfWhatNeedNotBeServed) {
  const Record record =
      testing::run_all(one_case(kMisaligned, testing::refusing_implementation("not aligned", "not aligned")));
  EXPECT_EQ(record.verdict, Verdict::bit_exact) << record.reason;
  EXPECT_EQ(record.tested, 1u);
  EXPECT_EQ(record.digest, 0u) << "it has no outputs";
}

TEST(HostCheck, ReportsARefusalOfWhatMustBeServed) {
  const Record record =
      testing::run_all(one_case(kPlain, testing::refusing_implementation("too small", "too small")));
  EXPECT_EQ(record.verdict, Verdict::refused);
  EXPECT_EQ(record.reason, "contiguous: too small");
  EXPECT_EQ(record.tested, 0u);
}

TEST(HostCheck, ReportsAKernelThatRefusesButWrote) {
  const Record record =
      testing::run_all(one_case(kMisaligned, testing::refusing_implementation("no", "no", [](const Tensors& t) {
                                  testing::data_of(t.output)[0] = 0;
                                })));
  EXPECT_EQ(record.verdict, Verdict::error);
  EXPECT_EQ(record.reason, "the kernel refused (no) but wrote");
}

TEST(HostCheck, ReportsAPredicateThatDisagreesWithItsKernel) {
  const Record other_words =
      testing::run_all(one_case(kMisaligned, testing::refusing_implementation("not aligned", "rank 3")));
  EXPECT_EQ(other_words.verdict, Verdict::error);
  EXPECT_EQ(other_words.reason, "the kernel refuses with \"rank 3\", its predicate says \"not aligned\"");

  const Record said_yes =
      testing::run_all(one_case(kMisaligned, testing::refusing_implementation("", "rank 3")));
  EXPECT_EQ(said_yes.verdict, Verdict::error);

  ElementwiseImplementation ran = right();
  ran.can_use = [](const Tensors&) { return kernels::Applicability{"not today"}; };
  const Record said_no = testing::run_all(one_case(kMisaligned, ran));
  EXPECT_EQ(said_no.verdict, Verdict::error);
  EXPECT_EQ(said_no.reason, "the predicate refuses (not today) but the kernel ran");
}

TEST(HostCheck, LetsOtherExceptionsThrough) {
  const ElementwiseSubject throwing = one_case(
      kPlain, testing::spoiled_implementation([](const Tensors&) { throw std::runtime_error("lost device"); }));
  const std::unique_ptr<Check> check = make_host_check(throwing);
  EXPECT_THROW((void)check->run_block(0), std::runtime_error);
}

TEST(HostCheck, RefusesToRunInAnotherRoundingMode) {
  const std::unique_ptr<Check> check = make_host_check(one_case(kPlain, right()));
  std::fesetround(FE_UPWARD);
  EXPECT_THROW((void)check->run_block(0), reference::EnvironmentError);
  std::fesetround(FE_TONEAREST);
  EXPECT_EQ(check->run_block(0).mismatches, 0u);
}

TEST(HostCheck, GivesTheErrorOfEveryInputOfValues) {
  // 3 ULP at 1, the other zero at 0, another NaN at NaN, a NaN at 2, 300 ULP at 3.
  const Record record = run_named(
      "values", kBiased, Dtype::fp16,
      testing::ruled_implementation([](std::uint64_t row, std::uint64_t column, std::uint16_t bits) -> Bits {
        switch (row * 1024 + column) {
          case 0x3C00:
            return static_cast<std::uint16_t>(bits + 3);
          case 0x0000:
            return 0x8000;
          case 0x7FFF:
            return 0x7E00;
          case 0x4000:
            return 0x7FFF;
          case 0x4200:
            return static_cast<std::uint16_t>(bits - 300);
          default:
            return bits;
        }
      }));
  std::vector<std::uint8_t> errors(65536);
  errors[0x3C00] = 3;
  errors[0x0000] = 1;
  errors[0x7FFF] = 1;
  errors[0x4000] = 255;
  errors[0x4200] = 255;
  EXPECT_EQ(record.errors, errors);
  EXPECT_EQ(record.max_ulp, kNoDistance);
  EXPECT_EQ(record.kinds, (KindCounts{.value = 3, .zero_sign = 1, .nan_bits = 1}));
  EXPECT_EQ(record.first->inputs, (std::vector<std::string>{"x=0x0000", "bias=0x8000"}));
}

TEST(HostCheck, LeavesTheErrorsOfOtherDomainsOut) {
  EXPECT_TRUE(run_random(testing::ruled_implementation([](auto, auto, std::uint16_t bits) {
                return Bits(static_cast<std::uint16_t>(bits ^ 1));
              })).errors.empty());
}

Record factored_identity(Dtype dtype) {
  Record record =
      testing::subject(kBiased, dtype, right(), testing::random_domain(kBiased, dtype, 256, 1, 1)).identity;
  record.implementation = "reference";
  record.domain = "pairs_factored";
  record.total = std::uint64_t{1} << 32;
  record.unit = "pairs";
  return record;
}

TEST(PairsFactoredCheck, ProvesABlockOfPairsWithTheDigestOfDomainPairs) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
    const auto check =
        make_pairs_factored_check(kBiased, dtype, reference::kPytorch211Cuda, factored_identity(dtype));
    constexpr std::uint64_t kBlock = 0x3C;  // inputs 0x3C00 to 0x3CFF
    const Record record = check->run_block(kBlock);
    EXPECT_EQ(record.tested, std::uint64_t{256} * 65536);
    EXPECT_EQ(record.mismatches, 0u);
    EXPECT_EQ(record.blocks, (std::vector<BlockRange>{{kBlock, kBlock + 1}}));
    EXPECT_EQ(record.digest, record.expected_digest);
    const Case c = make_domain("pairs", kBiased, dtype, Location::host, record.seed)->make_case(kBlock);
    const auto expected = [&]<reference::Half T>() {
      return expected_for<T>(kBiased, reference::kPytorch211Cuda)->digest(c, BlockOfDomain::of(record, kBlock));
    };
    EXPECT_EQ(record.digest, reference::visit_dtype(dtype, expected));
  }
}

}  // namespace
}  // namespace bitproof::conformance
