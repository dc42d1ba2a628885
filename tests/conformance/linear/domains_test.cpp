// The launches of linear + GELU: what each domain holds.
#include "conformance/linear/domains.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "conformance/linear/prediction.h"
#include "reference/linear/linear.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Dtype;
using reference::Fp16;
using reference::Half;

constexpr std::uint64_t kSeed = 1;

LinearDomain domain_of(std::string_view name, Dtype dtype, Location location = Location::host) {
  return *make_linear_domain(name, dtype, location, kSeed);
}

const LinearCase& case_named(const LinearDomain& domain, std::string_view description) {
  const auto found = std::ranges::find(domain.cases, description, &LinearCase::description);
  EXPECT_NE(found, domain.cases.end()) << description;
  return *found;
}

template <Half T>
std::vector<std::uint16_t> eager_bits(const LinearCase& c) {
  std::vector<std::uint16_t> bits;
  for (const T output : reference::linear_gelu_tanh(c.layer<T>().operands(), reference::kPytorch211Cuda))
    bits.push_back(output.bits);
  return bits;
}

template <Half T>
void expect_every_number_as_an_accumulator() {
  const LinearDomain domain = domain_of("values", T::kDtype);
  ASSERT_EQ(domain.cases.size(), 1u);
  const std::vector<float> sums = reference::biased_accumulators(domain.cases[0].layer<T>().operands());
  ASSERT_EQ(sums.size(), 65536u);
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T number{static_cast<std::uint16_t>(bits)};
    // The tensor core has one zero and one NaN.
    const float expected = reference::is_nan(number)                ? reference::float_from_bits(0x7FFFFFFFu)
                           : reference::magnitude_bits(number) == 0 ? 0.0f
                                                                    : reference::widen(number);
    EXPECT_EQ(reference::float_bits(sums[bits]), reference::float_bits(expected)) << bits;
  }
}

TEST(LinearValues, AreEveryBf16AsAnAccumulator) { expect_every_number_as_an_accumulator<Bf16>(); }
TEST(LinearValues, AreEveryFp16AsAnAccumulator) { expect_every_number_as_an_accumulator<Fp16>(); }

TEST(LinearDomains, CountWhatTheyHold) {
  for (const Location location : {Location::host, Location::device})
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16})
      for (const std::string_view name : kLinearDomains) {
        const LinearDomain domain = domain_of(name, dtype, location);
        std::uint64_t elements = 0;
        for (const LinearCase& c : domain.cases) elements += c.tested_rows() * c.shape.columns;
        EXPECT_EQ(domain.total, domain.unit == "cases" ? domain.cases.size() : elements) << name;
        EXPECT_GT(domain.total, 0u) << name;
      }
  EXPECT_FALSE(make_linear_domain("pairs", Dtype::bf16, Location::host, kSeed));
}

TEST(LinearDomains, RefuseExactlyWhatTheReferenceDeclines) {
  for (const std::string_view name : kLinearDomains)
    for (const LinearCase& c : domain_of(name, Dtype::bf16, Location::device).cases)
      EXPECT_EQ(c.must_be_refused, reference::refuse_prediction(c.shape, 1).has_value()) << c.description;
}

TEST(LinearDomains, ValuesAndBoundaryAreTheSameOnEveryMachine) {
  for (const std::string_view name : {"values", "boundary"}) {
    const LinearDomain host = domain_of(name, Dtype::fp16),
                       device = domain_of(name, Dtype::fp16, Location::device);
    ASSERT_EQ(host.cases.size(), device.cases.size());
    for (std::size_t i = 0; i < host.cases.size(); ++i)
      EXPECT_EQ(host.cases[i].layer<Fp16>().weight, device.cases[i].layer<Fp16>().weight);
  }
}

TEST(LinearDomains, RandomHasTwoHundredAlignedShapesOfEveryKindOfOperand) {
  const LinearDomain domain = domain_of("random", Dtype::bf16, Location::device);
  EXPECT_TRUE(domain.sampled);
  EXPECT_EQ(domain.cases.size(), 200u);
  std::set<std::string> kinds;
  std::set<std::size_t> depths;
  for (const LinearCase& c : domain.cases) {
    kinds.insert(c.description);
    depths.insert(c.shape.depth);
  }
  EXPECT_EQ(kinds.size(), kAllOperandKinds.size());
  EXPECT_GT(depths.size(), 100u);
}

TEST(LinearDomains, ProductionOnAGpuIsWholeButForRowsOfTheLargest) {
  const LinearDomain domain = domain_of("production", Dtype::bf16, Location::device);
  ASSERT_EQ(domain.cases.size(), 3u);
  EXPECT_TRUE(domain.sampled);
  const std::uint64_t rows[] = {512, 4096, 4096}, of[] = {512, 4096, 32760};
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(domain.cases[i].tested_rows(), rows[i]);
    EXPECT_EQ(domain.cases[i].shape.rows, of[i]);
  }
  EXPECT_EQ(domain.total, (512u + 4096u) * 12288u + 4096u * 13824u);
}

TEST(SpreadRows, HasTheFirstAndTheLastRowAndNoRowTwice) {
  const std::vector<BlockRange> rows = spread_rows(32760, 4096);
  std::uint64_t count = 0, next = 0;
  for (const BlockRange& range : rows) {
    EXPECT_GE(range.begin, next);
    EXPECT_LT(range.begin, range.end);
    next = range.end;
    count += range.end - range.begin;
  }
  EXPECT_EQ(count, 4096u);
  EXPECT_EQ(rows.front().begin, 0u);
  EXPECT_EQ(rows.back().end, 32760u);
  EXPECT_EQ(spread_rows(512, 512), (std::vector<BlockRange>{{0, 512}}));
}

TEST(Operands, DependOnSeedAndIndexOnly) {
  const reference::GemmShape small{.rows = 3, .columns = 8, .depth = 16};
  reference::GemmShape tall = small;
  tall.rows = 40;
  for (const OperandKind kind : kAllOperandKinds) {
    const HostLayer<Bf16> a = random_layer<Bf16>(small, kind, 5), b = random_layer<Bf16>(tall, kind, 5),
                          other = random_layer<Bf16>(small, kind, 6);
    EXPECT_TRUE(std::equal(a.x.begin(), a.x.end(), b.x.begin())) << name(kind);
    EXPECT_EQ(a.weight, b.weight) << name(kind);
    EXPECT_NE(a.x, other.x) << name(kind);
  }
}

// Cases that went wrong in the field, with the bits that they must give.

TEST(LinearBoundary, GivesGeluOfEachColumnsBias) {
  const LinearDomain domain = domain_of("boundary", Dtype::fp16);
  const std::vector<std::uint16_t> bits = eager_bits<Fp16>(case_named(domain, "x = 0, bias 1 to 8"));
  // GELU(1) = 0.8412, GELU(2) = 1.9546, GELU(3) = 2.9964; from 4 on it is the number itself in fp16.
  const std::uint16_t expected[] = {0x3ABB, 0x3FD2, 0x41FE, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
  ASSERT_EQ(bits.size(), 64u);
  for (std::size_t i = 0; i < 64; ++i) EXPECT_EQ(bits[i], expected[i % 8]) << i;
}

TEST(LinearBoundary, AddsTheBiasInFp32) {
  // 1 + 2^-8 + 2^-8 = 1.0078125 is a bf16, whose GELU is 0x3F5A; rounded after the product, 1 + 2^-8 is a tie
  // that goes to 1, and so does the next sum: GELU(1) = 0x3F57.
  const LinearDomain domain = domain_of("boundary", Dtype::bf16);
  EXPECT_EQ(eager_bits<Bf16>(case_named(domain, "[1, 2^-4] squared + 2^-8"))[0], 0x3F5A);
}

TEST(LinearBoundary, DoesNotOverflowBeforeTheBias) {
  // 65536 is no fp16, 65536 - 65504 = 32 is 0x5000.
  const LinearDomain domain = domain_of("boundary", Dtype::fp16);
  EXPECT_EQ(eager_bits<Fp16>(case_named(domain, "256 * 256 - 65504"))[0], 0x5000);
}

TEST(LinearBoundary, HasSumsThatDependOnTheirOrder) {
  const LinearDomain domain = domain_of("boundary", Dtype::bf16);
  const HostLayer<Bf16> layer = case_named(domain, "order-sensitive sums").layer<Bf16>();
  const std::vector<float> sums = reference::biased_accumulators(layer.operands());
  std::size_t wrong_in_sequence = 0;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    float sequential = 0;
    for (std::size_t k = 0; k < layer.shape.depth; ++k)
      sequential += reference::widen(layer.x[i / layer.shape.columns * layer.shape.depth + k]) *
                    reference::widen(layer.weight[i % layer.shape.columns * layer.shape.depth + k]);
    wrong_in_sequence += sequential != sums[i];
  }
  EXPECT_GT(wrong_in_sequence, sums.size() / 4) << "a sum in another order would not be noticed";
}

template <Half T>
void expect_accumulators_of_every_kind() {
  const LinearDomain domain = domain_of("boundary", T::kDtype);
  const auto sums = reference::biased_accumulators(
      case_named(domain, "special accumulators and biases").layer<T>().operands());
  const auto count = [&](auto&& is) { return std::ranges::count_if(sums, is); };
  EXPECT_GT(count([](float v) { return v == INFINITY; }), 0);
  EXPECT_GT(count([](float v) { return v == -INFINITY; }), 0);
  EXPECT_GT(count([](float v) { return v != v; }), 0);
  EXPECT_GT(count([](float v) { return std::isfinite(v) && v > reference::widen(reference::kLargest<T>); }), 0)
      << "finite in FP32, and no " << reference::name(T::kDtype);
  EXPECT_GT(count([](float v) { return v < -6 && std::isfinite(v); }), 0) << "the negative tail";
}

TEST(LinearBoundary, HasAccumulatorsOfEveryKindInBf16) { expect_accumulators_of_every_kind<Bf16>(); }
TEST(LinearBoundary, HasAccumulatorsOfEveryKindInFp16) { expect_accumulators_of_every_kind<Fp16>(); }

TEST(LinearLayout, HasTheSameRowsInBatchesOfManySizes) {
  const LinearDomain domain = domain_of("layout", Dtype::fp16);
  const LinearCase& whole = case_named(domain, "1024 rows of a batch of 1024");
  const std::vector<std::uint16_t> all = eager_bits<Fp16>(whole);
  for (const std::size_t rows : {1, 2, 17, 33, 128, 257}) {
    const std::vector<std::uint16_t> part =
        eager_bits<Fp16>(case_named(domain, std::to_string(rows) + " rows of a batch of 1024"));
    ASSERT_EQ(part.size(), rows * whole.shape.columns);
    EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin())) << rows;
  }
}

TEST(LinearLayout, PadsADepthOfZeroWithZeros) {
  const LinearDomain domain = domain_of("layout", Dtype::bf16);
  const HostLayer<Bf16> layer = case_named(domain, "depth 0, padded to 8").layer<Bf16>();
  EXPECT_EQ(layer.shape.depth, 8u);
  EXPECT_TRUE(std::ranges::all_of(layer.x, [](Bf16 value) { return value.bits == 0; }));
  EXPECT_TRUE(std::ranges::all_of(layer.weight, [](Bf16 value) { return value.bits == 0; }));
}

TEST(LinearLayout, HasOneRowOneColumnRepetitionAndRefusals) {
  const LinearDomain domain = domain_of("layout", Dtype::bf16, Location::device);
  EXPECT_EQ(case_named(domain, "one row, one column, depth 1, padded to 8").shape.rows, 1u);
  EXPECT_EQ(case_named(domain, "launched 20 times").repetitions, 20);
  EXPECT_GE(std::ranges::count(domain.cases, true, &LinearCase::must_be_refused), 5);
}

}  // namespace
}  // namespace bitproof::conformance
