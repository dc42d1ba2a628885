#include "reference/rounded_add.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <rapidcheck/gtest.h>

#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

TEST(RoundedAdd, LiteralSums) {
  const auto both = [](auto a, auto b) {
    EXPECT_EQ(add_rounded(a, b), add_rounded_integer(a, b));
    return add_rounded_integer(a, b);
  };
  EXPECT_EQ(both(Bf16{0x3F80}, Bf16{0x3B80}), Bf16{0x3F80});  // 1 + 2^-8: a tie, to even
  EXPECT_EQ(both(Bf16{0x3F81}, Bf16{0x3B80}), Bf16{0x3F82});  // 1 + 2^-7 + 2^-8: a tie, to even
  EXPECT_EQ(both(Bf16{0x3F80}, Bf16{0x3B81}), Bf16{0x3F81});  // just above the tie
  EXPECT_EQ(both(Fp16{0xFBFF}, Fp16{0xCC00}), Fp16{0xFC00});  // -65520: a tie, to -inf
  EXPECT_EQ(both(Fp16{0xFBFF}, Fp16{0xCBFF}), Fp16{0xFBFF});
  EXPECT_EQ(both(Fp16{0x7800}, Fp16{0x0001}), Fp16{0x7800});  // 2^15 + 2^-24: 40 bits apart
  EXPECT_EQ(both(Fp16{0x7801}, Fp16{0x8001}), Fp16{0x7801});
  EXPECT_EQ(both(Fp16{0x0400}, Fp16{0x8001}), Fp16{0x03FF});  // into the subnormals
  EXPECT_EQ(both(Fp16{0x03FF}, Fp16{0x0001}), Fp16{0x0400});  // and out of them
  EXPECT_EQ(both(Fp16{0x3C00}, Fp16{0xBC00}), Fp16{0x0000});
  EXPECT_EQ(both(Fp16{0x8000}, Fp16{0x8000}), Fp16{0x8000});
  EXPECT_EQ(both(Fp16{0x8000}, Fp16{0x0000}), Fp16{0x0000});
  EXPECT_EQ(both(Bf16{0x7F80}, Bf16{0xFF80}), Bf16{0x7FFF});
  EXPECT_EQ(both(Bf16{0xFF81}, Bf16{0x0000}), Bf16{0x7FFF});
  static_assert(add_rounded_integer(Fp16{0x3C00}, Fp16{0x3C00}) == Fp16{0x4000});
}

template <class T>
using RoundedAddOf = ForEachDtype<T>;
TYPED_TEST_SUITE(RoundedAddOf, Dtypes);

// Rows of the square of all pairs; the domain `pairs_factored` runs all 65,536 of them.
template <Half T>
std::vector<T> sampled_rows() {
  std::vector<T> rows = special_values<T>();
  for (std::uint32_t bits = 0; bits < 65536; bits += 1021) rows.push_back(T{static_cast<std::uint16_t>(bits)});
  return rows;
}

TYPED_TEST(RoundedAddOf, RoundingTwiceEqualsTheExactSumRoundedOnce) {
  const auto values = all_values<TypeParam>();
  for (const TypeParam a : sampled_rows<TypeParam>()) {
    for (const TypeParam b : values) ASSERT_EQ(add_rounded(a, b), add_rounded_integer(a, b)) << a << " + " << b;
  }
}

// Calls function(name) once for every instruction set that this processor has, with dispatch fixed to it.
template <class Function>
void for_each_instruction_set(const Function& function) {
  for (std::int64_t targets = hwy::SupportedTargets(); targets != 0; targets &= targets - 1) {
    const std::int64_t target = targets & -targets;
    hwy::SetSupportedTargetsForTest(target);
    hwy::GetChosenTarget().Update(target);
    function(hwy::TargetName(target));
    hwy::SetSupportedTargetsForTest(0);
  }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TYPED_TEST(RoundedAddOf, ArrayFormsEqualTheScalarFormOnEveryInstructionSet) {
  const auto values = all_values<TypeParam>();
  std::vector<TypeParam> expected(values.size()), out(values.size());
  for (const TypeParam a : sampled_rows<TypeParam>()) {
    const std::vector<TypeParam> row(values.size(), a);
    for (std::size_t i = 0; i < values.size(); ++i) expected[i] = add_rounded(a, values[i]);
    for_each_instruction_set([&](const char* target) {
      add_rounded<TypeParam>(a, values, out);
      ASSERT_EQ(out, expected) << target << ", a = " << a;
      add_rounded<TypeParam>(row, values, out);
      ASSERT_EQ(out, expected) << target << ", a = " << a;
      add_rounded_integer<TypeParam>(a, values, out);
      ASSERT_EQ(out, expected) << target << ", a = " << a;
    });
  }
}

TYPED_TEST(RoundedAddOf, TailsOfEveryLengthAreServedAndNothingBehindThem) {
  const auto values = all_values<TypeParam>();
  const TypeParam a = round_to<TypeParam>(1.5f);
  const TypeParam untouched{0x5A5A};
  for (std::size_t length = 0; length < 70; ++length) {
    const auto b = std::span(values).subspan(0x3B00, length);
    const std::vector<TypeParam> row(length, a);
    std::vector<TypeParam> broadcast(length + 1, untouched), elementwise(length + 1, untouched);
    add_rounded<TypeParam>(a, b, std::span(broadcast).first(length));
    add_rounded<TypeParam>(row, b, std::span(elementwise).first(length));
    for (std::size_t i = 0; i < length; ++i) {
      EXPECT_EQ(broadcast[i], add_rounded(a, b[i]));
      EXPECT_EQ(elementwise[i], broadcast[i]);
    }
    EXPECT_EQ(broadcast[length], untouched);
    EXPECT_EQ(elementwise[length], untouched);
  }
}

TYPED_TEST(RoundedAddOf, LengthsMustMatch) {
  std::vector<TypeParam> four(4), five(5);
  EXPECT_THROW(add_rounded<TypeParam>(TypeParam{}, four, five), std::invalid_argument);
  EXPECT_THROW(add_rounded<TypeParam>(four, five, four), std::invalid_argument);
  EXPECT_THROW(add_rounded<TypeParam>(five, four, four), std::invalid_argument);
  EXPECT_THROW(add_rounded_integer<TypeParam>(TypeParam{}, five, four), std::invalid_argument);
}

RC_GTEST_PROP(RoundedAddProperty, IsCommutativeAndNegatesWithItsOperands, ()) {
  const auto a = any_bits<std::uint16_t>();
  const auto b = any_bits<std::uint16_t>();
  const auto check = [](auto x, auto y) {
    const auto sum = add_rounded_integer(x, y);
    RC_ASSERT(sum == add_rounded_integer(y, x));
    // x - x is +0 either way round.
    if (!is_nan(sum) && !(magnitude_bits(sum) == 0 && sign_bit(x) != sign_bit(y))) {
      RC_ASSERT(negated(sum) == add_rounded_integer(negated(x), negated(y)));
    }
  };
  check(Bf16{a}, Bf16{b});
  check(Fp16{a}, Fp16{b});
}

}  // namespace
}  // namespace bitproof::reference
