// The production kernel on the CPU: its bits.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "kernels/gelu_tanh.h"
#include "reference/operators.h"
#include "reference/unary_map.h"
#include "tests/kernels/guarded_tensor.h"
#include "tests/reference/support.h"

namespace bitproof::kernels {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;
using test::GuardedTensor;
using test::kUntouched;
using Bits = std::vector<std::uint16_t>;

template <Half T>
const reference::UnaryMap<T>& reference_map() {
  static const reference::UnaryMap<T> map(
      [](T x) { return reference::gelu_tanh(x, reference::kPytorch211Cuda); });
  return map;
}

// What the operator has to give for rows of `width`; without bias if `bias` is empty.
template <Half T>
Bits expected(const Bits& input, const Bits& bias) {
  Bits result(input.size());
  for (std::size_t i = 0; i < input.size(); ++i)
    result[i] =
        bias.empty()
            ? reference_map<T>()(T{input[i]}).bits
            : reference_map<T>()(reference::round_result<T>(
                                     reference::widen(T{input[i]}) + reference::widen(T{bias[i % bias.size()]}),
                                     reference::kPytorch211Cuda))
                  .bits;
  return result;
}

// Rows of bias.size() (or, without bias, one row) through the kernel, into memory of its own.
template <Half T>
Bits kernel(const Bits& input, const Bits& bias, int vector_bytes) {
  const std::size_t width = bias.empty() ? input.size() : bias.size();
  const std::vector<std::int64_t> shape{static_cast<std::int64_t>(input.size() / width),
                                        static_cast<std::int64_t>(width)};
  GuardedTensor x(shape, test::dtype_of<T>()), y(shape, test::dtype_of<T>());
  GuardedTensor b({static_cast<std::int64_t>(width)}, test::dtype_of<T>());
  std::ranges::copy(input, x.elements().begin());
  std::ranges::copy(bias, b.elements().begin());
  if (bias.empty()) {
    host::gelu_tanh(x.description, y.description, vector_bytes);
  } else {
    host::bias_gelu_tanh(x.description, b.description, y.description, vector_bytes);
  }
  EXPECT_TRUE(x.guards_are_intact() && b.guards_are_intact() && y.guards_are_intact());
  EXPECT_TRUE(std::ranges::equal(x.elements(), input)) << "the input was changed";
  return {y.elements().begin(), y.elements().end()};
}

// One element, as every element of a vector of 32 bytes.
template <Half T>
std::uint16_t kernel_of(std::uint16_t x, std::uint16_t bias) {
  const Bits result = kernel<T>(Bits(16, x), Bits(16, bias), 16);
  EXPECT_EQ(result, Bits(16, result.front()));
  EXPECT_EQ(kernel<T>(Bits(16, x), Bits(16, bias), 32), result);
  return result.front();
}

std::uint16_t bf16(std::uint16_t x, std::uint16_t bias) { return kernel_of<Bf16>(x, bias); }
std::uint16_t fp16(std::uint16_t x, std::uint16_t bias) { return kernel_of<Fp16>(x, bias); }

// The literals, each derived in tests/reference/bias_gelu_tanh_test.cpp.

TEST(HostFused, RoundsTheSumBeforeGelu) {
  EXPECT_EQ(bf16(0x3F80, 0x3B80), 0x3F57);  // 1 + 2^-8, a tie: to even, 1
  EXPECT_EQ(bf16(0x3F81, 0x3B80), 0x3F5C);  // the next tie: to even, up
  EXPECT_EQ(fp16(0x3C00, 0x1000), 0x3ABB);  // 1 + 2^-11, a tie: to even, 1
}

TEST(HostFused, OverflowsWhereTheSumIsRounded) {
  EXPECT_EQ(fp16(0xFBFF, 0xCC00), 0x7FFF);  // -inf, and -inf * 0 is a NaN
  EXPECT_EQ(fp16(0xFBFF, 0xCBFF), 0x8000);  // the largest negative number
  EXPECT_EQ(bf16(0xFF7F, 0xFB00), 0x7FFF);
  EXPECT_EQ(bf16(0xFF7F, 0xFAFF), 0x8000);
  EXPECT_EQ(fp16(0x7BFF, 0x4C00), 0x7C00);
  EXPECT_EQ(bf16(0x7F7F, 0x7B00), 0x7F80);
}

TEST(HostFused, GivesTheCanonicalNanForInfinitiesThatCancel) {
  EXPECT_EQ(bf16(0x7F80, 0xFF80), 0x7FFF);
  EXPECT_EQ(fp16(0xFC00, 0x7C00), 0x7FFF);
  EXPECT_EQ(bf16(0x7F80, 0x8000), 0x7F80);
  EXPECT_EQ(bf16(0xFF80, 0x8000), 0x7FFF);
}

TEST(HostFused, QuantisesTheNegativeTailAsEagerDoes) {
  EXPECT_EQ(bf16(0xC09C, 0x8000), 0xB51C);
  EXPECT_EQ(bf16(0xC0A0, 0x8000), 0xB4A0);
  EXPECT_EQ(bf16(0xC0A6, 0x8000), 0x8000);
}

TEST(HostFused, KeepsSubnormals) {
  EXPECT_EQ(bf16(0x0080, 0x8000), 0x0040);
  EXPECT_EQ(bf16(0x0002, 0x8000), 0x0001);
  EXPECT_EQ(bf16(0x0001, 0x8000), 0x0000);  // half of the smallest subnormal: a tie, to even
}

TEST(HostFused, KeepsTheSignOfZero) {
  EXPECT_EQ(bf16(0x8000, 0x8000), 0x8000);
  EXPECT_EQ(bf16(0x8000, 0x0000), 0x0000);
  EXPECT_EQ(fp16(0x8000, 0x8000), 0x8000);
  EXPECT_EQ(fp16(0x8000, 0x0000), 0x0000);
}

template <class T>
class HostFusedOf : public ::testing::Test {};
TYPED_TEST_SUITE(HostFusedOf, reference::Dtypes);

TYPED_TEST(HostFusedOf, IsTheReferenceOnAllValuesWithBothVectors) {
  Bits all;
  for (const TypeParam x : reference::all_values<TypeParam>()) all.push_back(x.bits);
  for (const int vector_bytes : {16, 32}) {
    EXPECT_EQ(kernel<TypeParam>(all, {}, vector_bytes), expected<TypeParam>(all, {}));
    // Bias -0 changes no sum.
    EXPECT_EQ(kernel<TypeParam>(all, Bits(1024, 0x8000), vector_bytes), expected<TypeParam>(all, {}));
  }
}

TYPED_TEST(HostFusedOf, IsTheValuesRecordedFromPyTorch) {
  Bits all;
  for (const TypeParam x : reference::all_values<TypeParam>()) all.push_back(x.bits);
  EXPECT_EQ(kernel<TypeParam>(all, {}, 16),
            reference::oracle<std::uint16_t>(reference::oracle_name<TypeParam>("gelu_tanh_")));
}

TYPED_TEST(HostFusedOf, GivesTheCanonicalNanForEveryNanOnEitherSide) {
  Bits nans;
  for (const TypeParam x : reference::all_values<TypeParam>())
    if (reference::is_nan(x)) nans.push_back(x.bits);
  nans.resize(nans.size() / 16 * 16 + 16, 0x7FFF);
  const Bits canonical(nans.size(), 0x7FFF), ones(nans.size(), 0x3C00);
  for (const int vector_bytes : {16, 32}) {
    EXPECT_EQ(kernel<TypeParam>(nans, {}, vector_bytes), canonical);
    EXPECT_EQ(kernel<TypeParam>(nans, ones, vector_bytes), canonical);
    EXPECT_EQ(kernel<TypeParam>(ones, nans, vector_bytes), canonical);
  }
}

// Every width from 1 to 4096, three rows, whatever random bits.
template <Half T>
void expect_served_or_refused(std::int64_t width, const Bits& pool, int vector_bytes) {
  const std::vector<std::int64_t> shape{3, width};
  GuardedTensor x(shape, test::dtype_of<T>()), y(shape, test::dtype_of<T>());
  GuardedTensor b({width}, test::dtype_of<T>());
  std::copy_n(pool.begin() + width % 61, 3 * width, x.elements().begin());
  std::copy_n(pool.begin() + 4096, width, b.elements().begin());
  const int vector_elements = vector_bytes / 2;
  if (width % vector_elements == 0) {
    host::bias_gelu_tanh(x.description, b.description, y.description, vector_bytes);
    const Bits input(x.elements().begin(), x.elements().end()), bias(b.elements().begin(), b.elements().end());
    ASSERT_TRUE(std::ranges::equal(y.elements(), expected<T>(input, bias))) << width;
    ASSERT_TRUE(y.guards_are_intact()) << width;
    return;
  }
  const Bits before = y.memory();
  try {
    host::bias_gelu_tanh(x.description, b.description, y.description, vector_bytes);
    FAIL() << "width " << width << " was served";
  } catch (const Refused& refused) {
    ASSERT_EQ(refused.what(), "width " + std::to_string(width) + " is not a multiple of the vector's " +
                                  std::to_string(vector_elements) + " elements");
  }
  ASSERT_EQ(y.memory(), before) << width;
}

TYPED_TEST(HostFusedOf, ServesEveryWidthUpTo4096WithTheRightBitsOrRefusesItAndLeavesTheOutput) {
  Bits pool(3 * 4096 + 64);
  std::uint32_t state = 1;
  for (std::uint16_t& bits : pool) {
    state = state * 1664525 + 1013904223;  // any numbers will do
    bits = static_cast<std::uint16_t>(state >> 16);
  }
  for (const int vector_bytes : {16, 32})
    for (std::int64_t width = 1; width <= 4096; ++width)
      ASSERT_NO_FATAL_FAILURE(expect_served_or_refused<TypeParam>(width, pool, vector_bytes));
}

TEST(HostFused, ServesMoreRowsThanAGridHasBlocks) {
  // grid_y is at most 65,535 blocks of four rows.
  const std::size_t rows = 4 * 65535 + 5, width = 8;
  Bits input(rows * width), bias(width);
  for (std::size_t i = 0; i < input.size(); ++i) input[i] = static_cast<std::uint16_t>(i * 40503);
  for (std::size_t i = 0; i < width; ++i) bias[i] = static_cast<std::uint16_t>(0x3800 + i * 16);
  EXPECT_EQ(kernel<Fp16>(input, bias, 16), expected<Fp16>(input, bias));
}

Bits any_numbers(std::size_t count) {
  Bits bits(count);
  for (std::uint16_t& element : bits) element = reference::any_bits<std::uint16_t>();
  return bits;
}

template <Half T>
void expect_rows_to_be_independent() {
  const int vector_bytes = *rc::gen::element(16, 32);
  const auto width = *rc::gen::inRange<std::size_t>(1, 9) * 16, rows = *rc::gen::inRange<std::size_t>(2, 20);
  const auto cut = static_cast<std::ptrdiff_t>(*rc::gen::inRange<std::size_t>(1, rows) * width);
  const Bits input = any_numbers(rows * width), bias = any_numbers(width);
  const Bits whole = kernel<T>(input, bias, vector_bytes);
  Bits parts = kernel<T>({input.begin(), input.begin() + cut}, bias, vector_bytes);
  const Bits rest = kernel<T>({input.begin() + cut, input.end()}, bias, vector_bytes);
  parts.insert(parts.end(), rest.begin(), rest.end());
  RC_ASSERT(whole == parts);
  RC_ASSERT(whole == expected<T>(input, bias));
}

RC_GTEST_PROP(HostFusedProperty, TheResultOfABf16RowDoesNotDependOnTheOtherRows, ()) {
  expect_rows_to_be_independent<Bf16>();
}
RC_GTEST_PROP(HostFusedProperty, TheResultOfAnFp16RowDoesNotDependOnTheOtherRows, ()) {
  expect_rows_to_be_independent<Fp16>();
}

RC_GTEST_PROP(HostFusedProperty, InPlaceGivesTheSameBits, ()) {
  const int vector_bytes = *rc::gen::element(16, 32);
  const auto width = *rc::gen::inRange<std::size_t>(1, 70) * 16, rows = *rc::gen::inRange<std::size_t>(1, 12);
  const Bits input = any_numbers(width), bias = any_numbers(width);
  GuardedTensor x({static_cast<std::int64_t>(rows), static_cast<std::int64_t>(width)});
  GuardedTensor b({static_cast<std::int64_t>(width)});
  for (std::size_t row = 0; row < rows; ++row)
    std::ranges::copy(input, x.elements().begin() + static_cast<std::ptrdiff_t>(row * width));
  std::ranges::copy(bias, b.elements().begin());
  host::bias_gelu_tanh(x.description, b.description, x.description, vector_bytes);
  const Bits row_of_output = expected<Bf16>(input, bias);
  for (std::size_t row = 0; row < rows; ++row)
    RC_ASSERT(std::ranges::equal(x.elements().subspan(row * width, width), row_of_output));
  RC_ASSERT(x.guards_are_intact());
  RC_ASSERT(std::ranges::equal(b.elements(), bias));
}

RC_GTEST_PROP(HostFusedProperty, APoisonedOutputIsFullyOverwritten, ()) {
  const int vector_bytes = *rc::gen::element(16, 32);
  const auto width = *rc::gen::inRange<std::size_t>(1, 70) * 16, rows = *rc::gen::inRange<std::size_t>(1, 12);
  // No result is the NaN that the output starts with.
  const Bits output = kernel<Fp16>(Bits(rows * width, kUntouched), Bits(width, 0x3C00), vector_bytes);
  RC_ASSERT(std::ranges::count(output, kUntouched) == 0);
}

TEST(HostFused, FoldsLeadingAxesAndServesRankOne) {
  Bits values(2 * 3 * 16);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(0x3000 + 37 * i);
  for (const std::vector<std::int64_t>& shape :
       std::vector<std::vector<std::int64_t>>{{96}, {2, 3, 16}, {6, 16}, {1, 1, 96}}) {
    GuardedTensor x(shape), y(shape);
    std::ranges::copy(values, x.elements().begin());
    host::gelu_tanh(x.description, y.description);
    EXPECT_TRUE(std::ranges::equal(y.elements(), expected<Bf16>(values, {})));
    EXPECT_TRUE(y.guards_are_intact());
  }
}

TEST(HostFused, StartsAtTheByteOffset) {
  GuardedTensor x({32}), y({32});
  std::ranges::fill(x.elements(), std::uint16_t{0x4000});  // 2
  x.set_shape({16});
  y.set_shape({16});
  x.description.byte_offset = 32;
  y.description.byte_offset = 32;
  host::gelu_tanh(x.description, y.description);
  EXPECT_TRUE(std::ranges::equal(y.elements().first(16), Bits(16, kUntouched)));
  // gelu(2) = 1.9546: 0x3FFA in bf16.
  EXPECT_TRUE(std::ranges::equal(y.elements().last(16), Bits(16, 0x3FFA)));
}

}  // namespace
}  // namespace bitproof::kernels
