#include "conformance/report/combine.h"

#include <numeric>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "tests/conformance/report/samples.h"

namespace bitproof::conformance {
namespace {

using testing::kBlocks;
using testing::planned_record;
using testing::tested_record;

// The blocks of the domain dealt to up to 5 parts at random; parts may be empty.
std::vector<std::vector<BlockRange>> random_parts() {
  std::vector<std::vector<BlockRange>> parts(*rc::gen::inRange<std::size_t>(1, 6));
  for (std::uint64_t block = 0; block < kBlocks; ++block) {
    auto& part = parts[*rc::gen::inRange<std::size_t>(0, parts.size())];
    const BlockRange one{block, block + 1};
    part = unite(part, {&one, 1});
  }
  return parts;
}

RC_GTEST_PROP(Combine, AnyPartitionInAnyOrderGivesTheRecordOfTheWhole, ()) {
  const std::uint64_t every = *rc::gen::element<std::uint64_t>(0, 1, 7, 1000, 5000);
  const Record planned = planned_record("gelu_tanh");
  Record sum = planned;
  for (const auto& part : random_parts()) {
    // Addition from either side.
    const Record record = tested_record(planned, part, every);
    const Result<Record> next = *rc::gen::arbitrary<bool>() ? combine(sum, record) : combine(record, sum);
    RC_ASSERT(static_cast<bool>(next));
    sum = *next;
  }
  const BlockRange all{0, kBlocks};
  RC_ASSERT(sum == tested_record(planned, {&all, 1}, every));
}

RC_GTEST_PROP(Combine, TheRecordOfSomeBlocksIsTheSameHoweverItCameAbout, ()) {
  // Partial coverage included: the first part is left out.
  const Record planned = planned_record("gelu_tanh");
  const auto parts = random_parts();
  Record sum = planned;
  std::vector<BlockRange> blocks;
  for (std::size_t i = 1; i < parts.size(); ++i) {
    sum = *combine(sum, tested_record(planned, parts[i], 100));
    blocks = unite(blocks, parts[i]);
  }
  Record direct = tested_record(planned, blocks, 100);
  if (sum.tested == 0) direct.reason = sum.reason;  // why nothing ran is nobody's number
  RC_ASSERT(sum == direct);
}

RC_GTEST_PROP(Combine, IsAssociativeAlsoWhenPartsWereRefusedOrFailed, ()) {
  const Record planned = planned_record("gelu_tanh");
  std::vector<Record> three;
  for (std::uint64_t i = 0; i < 3; ++i) {
    const BlockRange part = share_of({i, 3}, kBlocks);
    three.push_back(tested_record(planned, {&part, 1}, 100));
    three.back().device = *rc::gen::element<std::string>("cuda:0", "cuda:1");
    const auto verdict =
        *rc::gen::element(Verdict::mismatch, Verdict::refused, Verdict::error, Verdict::not_run);
    if (verdict == Verdict::mismatch) continue;
    Record nothing = planned;
    nothing.verdict = verdict;
    nothing.reason = *rc::gen::element<std::string>("", "no CUDA device", "width not positive");
    three.back() = nothing;
  }
  RC_ASSERT(*combine(*combine(three[0], three[1]), three[2]) ==
            *combine(three[0], *combine(three[1], three[2])));
  RC_ASSERT(*combine(three[0], three[1]) == *combine(three[1], three[0]));
}

TEST(Combine, AddsDigestsModulo2To64) {
  Record a = planned_record("gelu_tanh"), b = a;
  a.blocks = {{0, 1}};
  b.blocks = {{1, 2}};
  a.digest = 0xffff'ffff'ffff'ffff;
  b.digest = 2;
  EXPECT_EQ(combine(a, b)->digest, 1u);
}

TEST(Combine, TakesTheFirstCounterexampleByBlockAndNotByArrival) {
  const Record planned = planned_record("gelu_tanh");
  const BlockRange early{0, 1}, late{5, 6};
  const Record first = tested_record(planned, {&early, 1}, 100),
               second = tested_record(planned, {&late, 1}, 100);
  // Every 100th element is wrong, the first of them at index 99.
  EXPECT_EQ(combine(second, first)->first->inputs, std::vector<std::string>{"x=0x0063"});
}

TEST(Combine, NamesAllDevices) {
  Record a = planned_record("gelu_tanh"), b = a, c = a;
  a.device = "cuda:1";
  b.device = "cuda:0";
  c.device = "cuda:1";
  EXPECT_EQ(combine(*combine(a, b), c)->device, "cuda:0+cuda:1");
}

TEST(Combine, AddsTimesWithoutDependingOnTheOrder) {
  // In doubles (0.1 + 0.2) + 0.3 != 0.1 + (0.2 + 0.3).
  Record a = planned_record("gelu_tanh"), b = a, c = a;
  a.seconds = 0.1;
  b.seconds = 0.2;
  c.seconds = 0.3;
  EXPECT_EQ(combine(*combine(a, b), c)->seconds, combine(a, *combine(b, c))->seconds);
}

TEST(Combine, RefusesOverlappingBlocks) {
  Record a = planned_record("gelu_tanh"), b = a;
  a.blocks = {{0, 4}, {8, 12}};
  b.blocks = {{4, 9}};
  const Result<Record> sum = combine(a, b);
  ASSERT_FALSE(sum);
  EXPECT_EQ(sum.error().kind, ErrorKind::conflict);
  EXPECT_NE(sum.error().message().find("gelu_tanh bf16 host.fused values x86_64"), std::string::npos);
}

TEST(Combine, RefusesEveryOtherIdentity) {
  const Record a = planned_record("gelu_tanh");
  const auto change = [&](auto member, auto value) {
    Record b = a;
    b.*member = value;
    return b;
  };
  const Record others[] = {
      change(&Record::op, "bias_gelu_tanh"),
      change(&Record::dtype, "fp16"),
      change(&Record::implementation, "cuda.fused"),
      change(&Record::domain, "boundary"),
      change(&Record::architecture, "sm_90"),
      change(&Record::profile, "pytorch-2.12-cuda"),
      change(&Record::equality, "ulp<=1"),
      change(&Record::evidence, "emulated"),
      change(&Record::machine_code_key, "b"),
      change(&Record::seed, 43u),
      change(&Record::library_version, "13.1.1"),
      change(&Record::total, 65537u),
      change(&Record::unit, "pairs"),
      change(&Record::blocks_total, 65u),
      change(&Record::sampled, true),
  };
  for (const Record& b : others) EXPECT_FALSE(combine(a, b)) << label(b);
}

RC_GTEST_PROP(Blocks, UniteAndRemainingPartitionTheShare, ()) {
  const auto parts = random_parts();
  const BlockRange share{5, 50};
  const std::vector<BlockRange> left = remaining(share, parts.front());
  RC_ASSERT(!overlap(left, parts.front()));
  std::vector<bool> done(kBlocks);
  for (const BlockRange& range : parts.front())
    for (std::uint64_t b = range.begin; b < range.end; ++b) done[b] = true;
  std::uint64_t expected = 0;
  for (std::uint64_t b = share.begin; b < share.end; ++b) expected += done[b] ? 0 : 1;
  RC_ASSERT(count_blocks(left) == expected);
  const std::vector<BlockRange> united = unite(left, parts.front());
  for (std::size_t i = 1; i < united.size(); ++i) RC_ASSERT(united[i - 1].end < united[i].begin);
}

}  // namespace
}  // namespace bitproof::conformance
