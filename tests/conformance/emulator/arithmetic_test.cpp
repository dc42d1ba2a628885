// The arithmetic of one lane, against the host's own rounding modes and against exact integers.
#include "conformance/emulator/arithmetic.h"

#include <bit>
#include <cfenv>
#include <cstdint>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace bitproof::conformance::emulator {
namespace {

using reference::Bf16;
using reference::Fp16;

constexpr Rounding kRoundings[] = {Rounding::nearest, Rounding::down, Rounding::up, Rounding::zero};
constexpr int kModes[] = {FE_TONEAREST, FE_DOWNWARD, FE_UPWARD, FE_TOWARDZERO};

// What the host's FP32 unit gives in a rounding mode; volatile, so that nothing moves across the changes of
// mode.
template <class Operation>
std::uint32_t on_host(int mode, Operation&& operation) {
  std::fesetround(mode);
  volatile float result = operation();
  const float value = result;
  std::fesetround(FE_TONEAREST);
  return canonical(value);
}

// Operands whose exponents are close, so that sums cancel, round and underflow; sometimes any bits.
rc::Gen<std::uint32_t> operand() {
  return rc::gen::map(rc::gen::tuple(rc::gen::arbitrary<std::uint32_t>(), rc::gen::inRange(0, 4)),
                      [](const std::tuple<std::uint32_t, int>& drawn) {
                        const auto [bits, shape] = drawn;
                        if (shape == 0) return bits;
                        const std::uint32_t base = shape == 1 ? 0u : shape == 2 ? 120u : 245u;
                        return (bits & 0x807FFFFFu) | (base + (bits >> 28)) % 256 << 23;
                      });
}

RC_GTEST_PROP(LaneArithmetic, SumsAreTheHostsInEveryRounding, ()) {
  const std::uint32_t a = *operand(), b = *operand();
  for (int i = 0; i < 4; ++i) {
    volatile float x = as_float(a), y = as_float(b);
    RC_ASSERT(add32(a, b, {false, kRoundings[i]}) == on_host(kModes[i], [&] { return x + y; }));
  }
}

RC_GTEST_PROP(LaneArithmetic, ProductsAreTheHostsInEveryRounding, ()) {
  const std::uint32_t a = *operand(), b = *operand();
  for (int i = 0; i < 4; ++i) {
    volatile float x = as_float(a), y = as_float(b);
    RC_ASSERT(multiply32(a, b, {false, kRoundings[i]}) == on_host(kModes[i], [&] { return x * y; }));
  }
}

RC_GTEST_PROP(LaneArithmetic, FusedMultiplyAddsAreTheHostsInEveryRounding, ()) {
  const std::uint32_t a = *operand(), b = *operand(), c = *operand();
  for (int i = 0; i < 4; ++i) {
    volatile float x = as_float(a), y = as_float(b), z = as_float(c);
    RC_ASSERT(fused_multiply_add32(a, b, c, {false, kRoundings[i]}) ==
              on_host(kModes[i], [&] { return std::fma(x, y, z); }));
  }
}

__extension__ using Int128 = __int128;
__extension__ using UnsignedInt128 = unsigned __int128;

// An fp16 number as an integer multiple of 2^-24; a product of two is one of 2^-48.
std::int64_t units(std::uint16_t bits) {
  return static_cast<std::int64_t>(std::ldexp(reference::widen(Fp16{bits}), 24));
}

// `exact` * 2^-48 to the nearest fp16, ties to even, by counting.
std::uint32_t nearest_fp16(Int128 exact) {
  const bool negative = exact < 0;
  auto magnitude = static_cast<UnsignedInt128>(negative ? -exact : exact);
  int width = 0;
  for (auto rest = magnitude; rest != 0; rest >>= 1) ++width;
  const int unit = width <= 24 + 11 ? 24 : width - 11;  // bits below the last place, of subnormals 24
  UnsignedInt128 kept = magnitude >> unit;
  const UnsignedInt128 rest = magnitude - (kept << unit), tie = static_cast<UnsignedInt128>(1) << (unit - 1);
  if (rest > tie || (rest == tie && (kept & 1) != 0)) ++kept;
  const float value = std::ldexp(static_cast<float>(static_cast<std::uint64_t>(kept)), unit - 48);
  const std::uint32_t bits = value >= 65520.0f ? 0x7C00u : reference::round_to<Fp16>(value).bits;  // exact
  return negative ? bits | 0x8000u : bits;
}

RC_GTEST_PROP(LaneArithmetic, HalfFusedMultiplyAddsRoundTheExactSumOnce, ()) {
  const auto finite = [] {
    const auto bits = *rc::gen::arbitrary<std::uint16_t>();
    return static_cast<std::uint16_t>((bits & 0x7C00) == 0x7C00 ? bits & 0x83FF : bits);
  };
  const std::uint16_t a = finite(), b = finite(), c = finite();
  const Int128 exact = static_cast<Int128>(units(a)) * units(b) + (static_cast<Int128>(units(c)) << 24);
  RC_PRE(exact != 0);  // the sign of an exact zero is another rule
  RC_ASSERT(fused_multiply_add16<Fp16>(a, b, c) == nearest_fp16(exact));
}

TEST(LaneArithmetic, ABf16FusedMultiplyAddIsNotRoundedTwice) {
  // (1 + 2^-4)^2 = 1 + 2^-3 + 2^-8 lies between two bf16 numbers, a tie: alone it goes to the even 0x3F90.
  // The smallest subnormal added makes it more than half; any rounding in between would lose it.
  EXPECT_EQ(fused_multiply_add16<Bf16>(0x3F88, 0x3F88, 0x0000), 0x3F90u);
  EXPECT_EQ(fused_multiply_add16<Bf16>(0x3F88, 0x3F88, 0x0001), 0x3F91u);
  EXPECT_EQ(fused_multiply_add16<Bf16>(0x3F88, 0x3F88, 0x8001), 0x3F90u);
}

TEST(LaneArithmetic, NansAreCanonical) {
  constexpr std::uint32_t kSignalling = 0xFF800001u, kOne = 0x3F800000u;
  EXPECT_EQ(add32(kSignalling, kOne, {}), 0x7FFFFFFFu);
  EXPECT_EQ(multiply32(0x7F800000u, 0, {}), 0x7FFFFFFFu);
  EXPECT_EQ(fused_multiply_add32(kOne, 0x7F800000u, 0xFF800000u, {}), 0x7FFFFFFFu);
  EXPECT_EQ(add16<Fp16>(0xFC01, 0x3C00), 0x7FFFu);
  EXPECT_EQ(fused_multiply_add16<Bf16>(0x7F80, 0x0000, 0x3F80), 0x7FFFu);
}

TEST(LaneArithmetic, FlushingKeepsTheSignAndNeedsASubnormal) {
  EXPECT_EQ(flushed(0x807FFFFFu), 0x80000000u);
  EXPECT_EQ(flushed(0x80800000u), 0x80800000u);
  // 2^-126 * 0.5 is subnormal: flushed after the multiplication.
  EXPECT_EQ(multiply32(0x00800000u, 0x3F000000u, {true, Rounding::nearest}), 0u);
  EXPECT_EQ(multiply32(0x00800000u, 0x3F000000u, {false, Rounding::nearest}), 0x00400000u);
  // (2 - 2^-23) * 2^-127 = 2^-126 - 2^-150 rounds to 2^-126 in FP32, but not with 24 bits: flushed.
  EXPECT_EQ(multiply32(0x3FFFFFFFu, 0x00400000u, {false, Rounding::nearest}), 0x00800000u);
  EXPECT_EQ(multiply32(0x3F7FFFFFu, 0x00800000u, {true, Rounding::nearest}), 0u);
  // 2^-126 - 2^-152 rounds to 2^-126 with 24 bits too: kept, as on an H200.
  EXPECT_EQ(fused_multiply_add32(0x80800000u, 0x32800000u, 0x00800000u, {true, Rounding::nearest}),
            0x00800000u);
  EXPECT_EQ(fused_multiply_add32(0x80800000u, 0x32800000u, 0x00800000u, {true, Rounding::zero}), 0u);
}

TEST(LaneArithmetic, AnExactZeroIsNegativeOnlyWhenRoundingDown) {
  EXPECT_EQ(add32(0x3F800000u, 0xBF800000u, {false, Rounding::down}), 0x80000000u);
  EXPECT_EQ(add32(0x3F800000u, 0xBF800000u, {false, Rounding::up}), 0u);
  EXPECT_EQ(add32(0x80000000u, 0x80000000u, {false, Rounding::up}), 0x80000000u);
}

TEST(LaneArithmetic, IntegersBecomeFp32WithOneRounding) {
  // 2^24 + 1 is a tie and goes to the even 2^24; up it goes to 2^24 + 2.
  EXPECT_EQ(from_unsigned(0x1000001, Rounding::nearest), 0x1p24f);
  EXPECT_EQ(from_unsigned(0x1000001, Rounding::up), 16777218.0f);
  EXPECT_EQ(from_unsigned(0x1000003, Rounding::nearest), 16777220.0f);
  EXPECT_EQ(from_unsigned(0x1000003, Rounding::zero), 16777218.0f);
  EXPECT_EQ(from_unsigned(~std::uint64_t{0}, Rounding::up), 0x1p64f);
  EXPECT_EQ(from_unsigned(~std::uint64_t{0}, Rounding::down), 0x1.fffffep63f);
}

TEST(LaneArithmetic, Fp32BecomesAnIntegerTowardZeroAndClamped) {
  EXPECT_EQ(to_unsigned(2.75f, 32, 7), 2u);
  EXPECT_EQ(to_unsigned(-3.0f, 32, 7), 0u);
  EXPECT_EQ(to_unsigned(0x1p32f, 32, 7), 0xFFFFFFFFu);
  EXPECT_EQ(to_unsigned(0x1p64f, 64, 7), ~std::uint64_t{0});
  EXPECT_EQ(to_unsigned(0x1.fffffep63f, 64, 7), 0xFFFFFF0000000000u);
  EXPECT_EQ(to_unsigned(std::numeric_limits<float>::quiet_NaN(), 32, 7), 7u);
}

}  // namespace
}  // namespace bitproof::conformance::emulator
