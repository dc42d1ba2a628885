#include "conformance/elementwise/domains.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/elementwise_plan.h"
#include "conformance/elementwise/specials.h"
#include "reference/operators.h"
#include "tests/conformance/elementwise_samples.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;
using testing::kBiased;
using testing::kUnary;

constexpr std::array<std::string_view, 6> kNames{"values", "pairs",      "boundary",
                                                 "random", "production", "layout"};

// Every domain of every operator, dtype and location.
std::vector<ElementwiseDomain> all_domains() {
  std::vector<ElementwiseDomain> domains;
  for (const std::string_view name : kNames)
    for (const ElementwiseOperator& op : kElementwiseOperators)
      for (const Dtype dtype : {Dtype::bf16, Dtype::fp16})
        for (const Location location : {Location::host, Location::device})
          if (auto domain = make_domain(name, op, dtype, location, 1)) domains.push_back(*std::move(domain));
  return domains;
}

TEST(Domains, ExistForEveryOperatorButPairsForUnaryOnes) {
  // 6 names, 2 operators, 2 dtypes, 2 locations; pairs has no unary operator.
  EXPECT_EQ(all_domains().size(), 6u * 8 - 4);
  EXPECT_FALSE(make_domain("pairs", kUnary, Dtype::bf16, Location::host, 1));
  EXPECT_FALSE(make_domain("everything", kBiased, Dtype::bf16, Location::host, 1));
  EXPECT_FALSE(make_domain("", kBiased, Dtype::bf16, Location::host, 1));
}

TEST(Domains, BlocksAddUpToTheTotal) {
  for (const ElementwiseDomain& domain : all_domains()) {
    std::uint64_t total = 0;
    for (std::uint64_t block = 0; block < domain.blocks; ++block)
      total += domain.unit == "cases" ? 1 : domain.make_case(block).elements();
    EXPECT_EQ(total, domain.total) << domain.name;
    EXPECT_GT(total, 0u) << domain.name;
  }
}

TEST(Domains, IndicesOfTheirElementsAreDisjoint) {
  for (const ElementwiseDomain& domain : all_domains()) {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> ranges;
    for (std::uint64_t block = 0; block < domain.blocks; ++block) {
      const Case c = domain.make_case(block);
      ranges.emplace_back(c.first_index, c.first_index + c.elements());
    }
    std::ranges::sort(ranges);
    for (std::size_t i = 1; i < ranges.size(); ++i)
      ASSERT_LE(ranges[i - 1].second, ranges[i].first) << domain.name << ", " << i;
  }
}

bool same_case(const Case& a, const Case& b) {
  return a.rows == b.rows && a.width == b.width && a.first_index == b.first_index && a.layout == b.layout &&
         a.source.rule == b.source.rule && a.source.fp16 == b.source.fp16 && a.source.unary == b.source.unary &&
         a.source.seed == b.source.seed && a.source.first_row == b.source.first_row &&
         a.source.width == b.source.width && a.source.bias_stream == b.source.bias_stream &&
         a.source.special_count == b.source.special_count && a.source.special == b.source.special;
}

TEST(Domains, ProduceAnyBlockFromItsNumberAlone) {
  // Backwards, against fresh domains that were asked for nothing else.
  const std::vector<ElementwiseDomain> domains = all_domains();
  for (std::size_t i = 0; i < domains.size(); ++i)
    for (std::uint64_t block = domains[i].blocks; block-- > 0;) {
      if (block % 16 != 0) continue;
      const ElementwiseDomain fresh = all_domains()[i];
      ASSERT_TRUE(same_case(domains[i].make_case(block), fresh.make_case(block))) << fresh.name << ' ' << block;
    }
}

TEST(Domains, DoNotDependOnTheLifeOfTheirArguments) {
  const auto make = [] {
    const ElementwiseOperator biased = kBiased;
    return *make_domain("random", biased, Dtype::bf16, Location::host, 1);
  };
  const ElementwiseDomain domain = make();
  EXPECT_FALSE(domain.make_case(3).source.unary);
}

TEST(Domains, AreReadInTheFormatTheyAreOf) {
  EXPECT_TRUE(make_domain("random", kBiased, Dtype::fp16, Location::host, 1)->make_case(0).source.fp16);
  EXPECT_FALSE(make_domain("random", kBiased, Dtype::bf16, Location::host, 1)->make_case(0).source.fp16);
}

TEST(ValuesDomain, HoldsEachOfThe65536ValuesOnce) {
  for (const ElementwiseOperator& op : kElementwiseOperators) {
    const auto domain = make_domain("values", op, Dtype::fp16, Location::host, 1);
    EXPECT_EQ(domain->total, 65536u);
    EXPECT_FALSE(domain->sampled);
    const Case c = domain->make_case(0);
    std::vector<int> seen(65536);
    for (std::uint64_t row = 0; row < c.rows; ++row)
      for (std::uint64_t column = 0; column < c.width; ++column) ++seen[c.source.input(row, column)];
    EXPECT_EQ(std::ranges::count(seen, 1), 65536);
  }
}

TEST(PairsDomain, HoldsEveryInputForARowOfEveryBias) {
  const auto domain = make_domain("pairs", kBiased, Dtype::bf16, Location::host, 1);
  EXPECT_EQ(domain->total, std::uint64_t{1} << 32);
  EXPECT_FALSE(domain->sampled);
  std::uint32_t next_input = 0;
  for (std::uint64_t block = 0; block < domain->blocks; ++block) {
    const Case c = domain->make_case(block);
    ASSERT_EQ(c.width, 65536u);
    for (std::uint64_t row = 0; row < c.rows; ++row) {
      // The index of a pair is its 32 bits.
      ASSERT_EQ(c.first_index + row * c.width, std::uint64_t{next_input} << 16);
      ASSERT_EQ(c.source.input(row, 0), next_input++);
    }
  }
  EXPECT_EQ(next_input, 65536u);
}

TEST(BoundaryDomain, CrossesTheSpecialsPairwise) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
    const std::vector<std::uint16_t> specials = special_values(dtype);
    const Case c = make_domain("boundary", kBiased, dtype, Location::host, 1)->make_case(0);
    std::set<std::pair<std::uint16_t, std::uint16_t>> pairs;
    for (std::uint64_t row = 0; row < c.rows; ++row)
      for (std::uint64_t column = 0; column < c.width; ++column)
        pairs.emplace(c.source.input(row, column), c.source.bias(column));
    EXPECT_EQ(pairs.size(), specials.size() * specials.size());
    for (const std::uint16_t x : specials)
      for (const std::uint16_t bias : specials) ASSERT_TRUE(pairs.contains({x, bias}));
  }
}

TEST(BoundaryDomain, OfAUnaryOperatorIsTheSpecials) {
  const std::vector<std::uint16_t> specials = special_values(Dtype::fp16);
  const Case c = make_domain("boundary", kUnary, Dtype::fp16, Location::host, 1)->make_case(0);
  std::set<std::uint16_t> inputs;
  for (std::uint64_t column = 0; column < c.width; ++column) inputs.insert(c.source.input(0, column));
  EXPECT_EQ(std::vector<std::uint16_t>(inputs.begin(), inputs.end()), specials);
  EXPECT_EQ(c.rows, 1u);
}

TEST(BoundaryDomain, MustBeServed) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16})
    EXPECT_TRUE(must_be_served(make_domain("boundary", kBiased, dtype, Location::host, 1)->make_case(0)));
}

TEST(SpecialValues, AreAscendingOfBothSignsAndFitTheSource) {
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
    const std::vector<std::uint16_t> specials = special_values(dtype);
    EXPECT_LE(specials.size(), kMaxSpecials);
    EXPECT_TRUE(std::ranges::is_sorted(specials));
    EXPECT_EQ(std::ranges::adjacent_find(specials), specials.end());
    for (const std::uint16_t bits : specials)
      EXPECT_TRUE(std::ranges::binary_search(specials, bits ^ 0x8000)) << bits;
  }
}

void expect_contains(Dtype dtype, const std::vector<std::uint16_t>& wanted) {
  const std::vector<std::uint16_t> specials = special_values(dtype);
  for (const std::uint16_t bits : wanted)
    EXPECT_TRUE(std::ranges::binary_search(specials, bits)) << name(dtype) << " 0x" << std::hex << bits;
}

TEST(SpecialValues, OfBf16ContainTheContractsBoundaries) {
  expect_contains(Dtype::bf16,
                  {
                      0x0000, 0x8000,                  // zeros
                      0x0001, 0x0002, 0x007F, 0x0080,  // subnormal edges
                      0x3F80, 0x3F81, 0x3B80,          // one, its neighbour, half its ULP: ties
                      0xFF7F, 0xFB00, 0xFAFF,          // overflow of the sum, and just not
                      0x7F7F, 0x7B00, 0x7AFF,          // the same upwards
                      0xC09C, 0xC0A0, 0xC0A6,          // the quantised tail
                      0x7F80, 0xFF80,                  // infinities
                      0x7FFF, 0xFFFF, 0x7FC0, 0x7F81,  // NaNs: canonical, negative, quiet, signalling
                  });
}

TEST(SpecialValues, OfFp16ContainTheContractsBoundaries) {
  expect_contains(Dtype::fp16,
                  {
                      0x0000, 0x8000,                  // zeros
                      0x0001, 0x03FF, 0x0400, 0x0002,  // subnormal edges
                      0x3C00, 0x3C01, 0x1000,          // one, its neighbour, half its ULP: ties
                      0xFBFF, 0xCC00, 0xCBFF,          // overflow of the sum, and just not
                      0xC528, 0xC529,                  // around the end of the quantised tail
                      0x7C00, 0xFC00,                  // infinities
                      0x7FFF, 0x7E00, 0x7C01, 0xFFFF,  // NaNs: canonical, quiet, signalling, negative
                      0x0E55, 0x8E55, 0xB5A7,          // where an uncorrected kernel formula is wrong
                      0xC007,                          // where a correctly rounded tanh differs
                  });
}

TEST(RandomDomain, SaysThatItIsASample) {
  const auto domain = make_domain("random", kBiased, Dtype::bf16, Location::device, 1);
  EXPECT_TRUE(domain->sampled);
  EXPECT_EQ(domain->total, std::uint64_t{1} << 24);
}

TEST(RandomDomain, ChangesWithTheSeed) {
  const Case one = make_domain("random", kBiased, Dtype::bf16, Location::host, 1)->make_case(0);
  const Case two = make_domain("random", kBiased, Dtype::bf16, Location::host, 2)->make_case(0);
  EXPECT_NE(one.source.input(0, 0), two.source.input(0, 0));
}

TEST(ProductionDomain, IsTheWholeShapesOnADevice) {
  const auto domain = make_domain("production", kBiased, Dtype::bf16, Location::device, 1);
  ASSERT_EQ(domain->blocks, 4u);
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> shapes{
      {512, 12288}, {4096, 12288}, {32760, 13824}, {75600, 13824}};
  for (std::uint64_t block = 0; block < 4; ++block) {
    const Case c = domain->make_case(block);
    EXPECT_EQ(std::pair(c.rows, c.width), shapes[block]);
    EXPECT_EQ(c.source.rule, InputRule::activations);
  }
  EXPECT_EQ(domain->unit, "elements");
}

TEST(ProductionDomain, IsTheFirstAndTheLastRowsOnTheCpuAndSaysSo) {
  const auto host = make_domain("production", kBiased, Dtype::bf16, Location::host, 1);
  const auto device = make_domain("production", kBiased, Dtype::bf16, Location::device, 1);
  EXPECT_EQ(host->unit, "elements, 64 rows of each shape");
  EXPECT_TRUE(host->sampled);
  for (std::uint64_t shape = 0; shape < 4; ++shape) {
    const Case whole = device->make_case(shape);
    const Case first = host->make_case(2 * shape), last = host->make_case(2 * shape + 1);
    EXPECT_EQ(first.rows + last.rows, 64u);
    // The same elements as on the device, by value and by index.
    for (const std::uint64_t column : {std::uint64_t{0}, whole.width - 1}) {
      EXPECT_EQ(first.source.input(0, column), whole.source.input(0, column));
      EXPECT_EQ(last.source.input(last.rows - 1, column), whole.source.input(whole.rows - 1, column));
      EXPECT_EQ(first.source.bias(column), whole.source.bias(column));
    }
    EXPECT_EQ(first.first_index, whole.first_index);
    EXPECT_EQ(last.first_index + last.elements(), whole.first_index + whole.elements());
  }
}

std::vector<Case> layout_cases(const ElementwiseOperator& op, Location location) {
  const auto domain = make_domain("layout", op, Dtype::bf16, location, 1);
  std::vector<Case> cases;
  for (std::uint64_t block = 0; block < domain->blocks; ++block) cases.push_back(domain->make_case(block));
  return cases;
}

bool some(const std::vector<Case>& cases, const std::function<bool(const Case&)>& condition) {
  return std::ranges::any_of(cases, condition);
}

TEST(LayoutDomain, HasWidthsThatVectorsDoNotDivideAndManyRows) {
  const std::vector<Case> cases = layout_cases(kBiased, Location::host);
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.width == 1; }));
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.width % 16 == 8; }));
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.width > 16 && c.width % 8 != 0; }));
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.rows > 65535; }));
}

TEST(LayoutDomain, HasEveryOffsetAliasingAndGap) {
  const std::vector<Case> cases = layout_cases(kBiased, Location::host);
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.layout.input_offset % 8 != 0; }));
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.layout.output_offset % 8 != 0; }));
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.layout.bias_offset % 8 != 0; }));
  EXPECT_TRUE(some(cases, [](const Case& c) { return c.layout.row_gap != 0; }));
  for (const Aliasing aliasing : {Aliasing::in_place, Aliasing::partial_overlap, Aliasing::over_bias})
    EXPECT_TRUE(some(cases, [=](const Case& c) { return c.layout.aliasing == aliasing; }));
  // A unary operator has no bias to overlap or to move.
  EXPECT_FALSE(some(layout_cases(kUnary, Location::host), [](const Case& c) {
    return c.layout.aliasing == Aliasing::over_bias || c.layout.bias_offset != 0;
  }));
}

TEST(LayoutDomain, VariesLaunchesAndExceeds32BitsOnADeviceOnly) {
  const auto launched = [](Launch launch) { return [=](const Case& c) { return c.layout.launch == launch; }; };
  const auto large = [](const Case& c) { return c.elements() > std::uint64_t{1} << 32; };
  for (const Launch launch :
       {Launch::delayed_producer, Launch::late_bias, Launch::graph_replay, Launch::repeated}) {
    EXPECT_TRUE(some(layout_cases(kBiased, Location::device), launched(launch)));
    EXPECT_EQ(some(layout_cases(kBiased, Location::host), launched(launch)), launch == Launch::repeated);
  }
  EXPECT_TRUE(some(layout_cases(kUnary, Location::device), large));
  EXPECT_FALSE(some(layout_cases(kUnary, Location::host), large));
}

TEST(LayoutDomain, HasCasesThatMustBeServedAndOthers) {
  const std::vector<Case> cases = layout_cases(kBiased, Location::host);
  const auto served = std::ranges::count_if(cases, must_be_served);
  EXPECT_GT(served, 10);
  EXPECT_LT(served, static_cast<std::ptrdiff_t>(cases.size()) - 10);
}

TEST(MustBeServed, IsWhatEveryVectorDivides) {
  Case c;
  c.rows = 5;
  c.width = 64;
  EXPECT_TRUE(must_be_served(c));
  const auto changed = [&c](const std::function<void(Case&)>& change) {
    Case other = c;
    change(other);
    return must_be_served(other);
  };
  EXPECT_TRUE(changed([](Case& other) { other.layout.aliasing = Aliasing::in_place; }));
  EXPECT_TRUE(changed([](Case& other) { other.layout.bias_offset = 16; }));
  EXPECT_TRUE(changed([](Case& other) { other.layout.launch = Launch::repeated; }));
  EXPECT_FALSE(changed([](Case& other) { other.width = 56; }));
  EXPECT_FALSE(changed([](Case& other) { other.layout.input_offset = 8; }));
  EXPECT_FALSE(changed([](Case& other) { other.layout.output_offset = 1; }));
  EXPECT_FALSE(changed([](Case& other) { other.layout.bias_offset = 2; }));
  EXPECT_FALSE(changed([](Case& other) { other.layout.row_gap = 16; }));
  EXPECT_FALSE(changed([](Case& other) { other.layout.aliasing = Aliasing::partial_overlap; }));
  EXPECT_FALSE(changed([](Case& other) { other.layout.aliasing = Aliasing::over_bias; }));
}

TEST(ExpectedDigestOfADomain, IsTheSumOverItsElements) {
  std::uint64_t sum = 0;
  for (std::uint32_t bits = 0; bits < 65536; ++bits)
    sum += digest_term(
        7, bits,
        reference::gelu_tanh(reference::Fp16{static_cast<std::uint16_t>(bits)}, reference::kPytorch211Cuda)
            .bits);
  EXPECT_EQ(expected_digest_of_domain("gelu_tanh", "fp16", "pytorch-2.11-cuda", "values", 7), sum);
  // Bias -0 changes no sum.
  EXPECT_EQ(expected_digest_of_domain("bias_gelu_tanh", "fp16", "pytorch-2.11-cuda", "values", 7), sum);
  EXPECT_NE(expected_digest_of_domain("gelu_tanh", "fp16", "pytorch-2.11-cuda", "values", 8), sum);
  EXPECT_NE(expected_digest_of_domain("gelu_tanh", "bf16", "pytorch-2.11-cuda", "values", 7), sum);
}

TEST(ExpectedDigestOfADomain, IsUnknownForWhatDependsOnThePlaceAndForWhatDoesNotExist) {
  const auto digest = [](std::string_view op, std::string_view dtype, std::string_view profile,
                         std::string_view domain) {
    return expected_digest_of_domain(op, dtype, profile, domain, 1);
  };
  EXPECT_FALSE(digest("gelu_tanh", "bf16", "pytorch-2.11-cuda", "production"));
  EXPECT_FALSE(digest("gelu_tanh", "bf16", "pytorch-2.11-cuda", "layout"));
  EXPECT_FALSE(digest("gelu_tanh", "bf16", "pytorch-2.11-cuda", "pairs"));
  EXPECT_FALSE(digest("gelu_tanh", "bf16", "pytorch-2.11-cuda", "nothing"));
  EXPECT_FALSE(digest("gelu", "bf16", "pytorch-2.11-cuda", "values"));
  EXPECT_FALSE(digest("gelu_tanh", "fp32", "pytorch-2.11-cuda", "values"));
  EXPECT_FALSE(digest("gelu_tanh", "bf16", "pytorch-1.0", "values"));
}

}  // namespace
}  // namespace bitproof::conformance
