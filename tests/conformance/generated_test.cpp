// Properties over generated inputs, shapes and layouts.
#include <memory>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/one_element.h"
#include "conformance/mutants/arithmetic.h"
#include "conformance/mutants/mutant.h"
#include "reference/operators.h"
#include "tests/conformance/elementwise_samples.h"
#include "tests/generators/half.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;
using testing::kBiased;

Dtype any_dtype() { return *rc::gen::element(Dtype::bf16, Dtype::fp16); }

// The record of one launch.
Record run(const ElementwiseImplementation& implementation, Dtype dtype, const Case& c) {
  ElementwiseSubject subject = testing::subject(kBiased, dtype, implementation, testing::domain_of_one_case(c));
  subject.explain = false;
  return make_host_check(subject)->run_block(0);
}

RC_GTEST_PROP(Generated, ProductionAndMutantsKernelsAreRightOnWhateverShapeAndLayout, ()) {
  const Dtype dtype = any_dtype();
  const generators::Shape shape = *generators::shape(16);
  Case c = plain_case(InputRule::random_bits, kBiased, dtype, shape.rows, shape.width,
                      *rc::gen::arbitrary<std::uint64_t>());
  c.layout = *generators::served_layout();
  for (const ElementwiseImplementation& implementation :
       {host_implementations().front(), host_mutant(Fault::none)}) {
    const Record record = run(implementation, dtype, c);
    RC_ASSERT(record.mismatches == 0u);
    RC_ASSERT(record.digest == record.expected_digest);
  }
}

template <kernels::HalfType kType, reference::Half T>
void expect_reference_bits(std::uint16_t x, std::uint16_t bias) {
  const std::uint16_t right = reference::bias_gelu_tanh(T{x}, T{bias}, reference::kPytorch211Cuda).bits;
  RC_ASSERT(mutants::element<kType>(Fault::none, x, bias, true, 0) == right);
}

RC_GTEST_PROP(Generated, TheKernelsArithmeticIsTheReferencesOnTiesAndBesideThem, ()) {
  const Dtype dtype = any_dtype();
  const std::uint16_t x = *generators::half_bits(dtype);
  const std::uint16_t bias = *rc::gen::oneOf(generators::bias_on_a_tie(dtype, x), generators::half_bits(dtype));
  if (dtype == Dtype::bf16) {
    expect_reference_bits<kernels::HalfType::bf16, reference::Bf16>(x, bias);
  } else {
    expect_reference_bits<kernels::HalfType::fp16, reference::Fp16>(x, bias);
  }
}

RC_GTEST_PROP(Generated, RoundingHalfAwayDiffersFromTheReferenceOnTiesOnly, ()) {
  // Where x + bias is no tie, all roundings to nearest agree: the fault shows on ties, which the generator
  // makes.
  const std::uint16_t x = *generators::half_bits(Dtype::bf16);
  const std::uint16_t bias = *generators::bias_on_a_tie(Dtype::bf16, x);
  using F = mutants::Format<kernels::HalfType::bf16>;
  const float sum = F::widen(x) + F::widen(bias);
  const std::uint16_t even = F::round(sum);
  const std::uint16_t away = mutants::round_by<kernels::HalfType::bf16>(sum, mutants::Rounding::half_away, 0);
  const bool tie = (mutants::bits_of_float(sum) & 0xFFFF) == 0x8000;
  RC_ASSERT(even == away || tie);
}

RC_GTEST_PROP(Generated, AnElementsTextReadsBackAsTheElement, ()) {
  OneElement element;
  element.rows = *rc::gen::inRange<std::uint64_t>(1, kMostRowsOfOneElement + 1);
  element.width = *rc::gen::inRange<std::uint64_t>(1, kMostColumnsOfOneElement + 1);
  element.row = *rc::gen::inRange<std::uint64_t>(0, element.rows);
  element.column = *rc::gen::inRange<std::uint64_t>(0, element.width);
  element.x = *generators::half_bits(Dtype::fp16);
  element.bias = *generators::half_bits(Dtype::fp16);
  element.in_place = *rc::gen::arbitrary<bool>();
  const Result<OneElement> read = parse_one_element(to_text(element));
  RC_ASSERT(static_cast<bool>(read));
  RC_ASSERT(*read == element);
}

TEST(HalfBits, ShrinkToZeroBySimplerNumbers) {
  // A property that fails from 1.0 on has 1.0, 0x3F80, as its simplest counterexample in bf16: zero passes, and
  // of the numbers with fewer bits none is below.
  // One in twenty numbers is in [1, 2): with a hundred of an unknown seed, one run in forty would meet none.
  rc::detail::TestParams params;
  params.seed = 1;
  params.maxSuccess = 2000;
  const auto result = rc::detail::checkTestable(
      [] {
        const std::uint16_t bits = *generators::half_bits(Dtype::bf16);
        RC_ASSERT((bits & 0x7F80) != 0x3F80);
      },
      rc::detail::TestMetadata{}, params);
  rc::detail::FailureResult failure;
  ASSERT_TRUE(result.match(failure));
  EXPECT_NE(failure.counterExample.back().second.find("16256"), std::string::npos)
      << failure.counterExample.back().second;
}

}  // namespace
}  // namespace bitproof::conformance
