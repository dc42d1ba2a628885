#include "reference/bulk.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <stdexcept>
#include <vector>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <tbb/global_control.h>

#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

// Bits that look random and depend on (seed, index) alone.
template <Half T>
std::vector<T> scattered(std::size_t count, std::uint32_t seed) {
  std::vector<T> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t z = static_cast<std::uint32_t>(i) * 0x9E3779B9u + seed * 0x85EBCA6Bu;
    z = (z ^ z >> 16) * 0x7FEB352Du;
    z = (z ^ z >> 15) * 0x846CA68Bu;
    values[i] = T{static_cast<std::uint16_t>(z >> 16)};
  }
  return values;
}

template <Half T>
std::vector<T> scalar_rows(std::span<const T> x, std::span<const T> bias, const Profile& profile) {
  std::vector<T> out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) out[i] = bias_gelu_tanh(x[i], bias[i % bias.size()], profile);
  return out;
}

template <Half T>
std::vector<T> bulk_rows(std::span<const T> x, std::span<const T> bias, const Profile& profile) {
  std::vector<T> out(x.size(), T{0x5A5A});
  bias_gelu_tanh<T>(x, bias, out, profile);
  return out;
}

template <class T>
using Bulk = ForEachDtype<T>;
TYPED_TEST_SUITE(Bulk, Dtypes);

TYPED_TEST(Bulk, MapHoldsTheScalarResultOfEveryValue) {
  const auto map = gelu_tanh_map<TypeParam>(kPytorch211Cuda);
  ASSERT_EQ(map.results().size(), 65536u);
  for (const TypeParam x : all_values<TypeParam>()) {
    ASSERT_EQ(map(x), gelu_tanh(x, kPytorch211Cuda));
    ASSERT_EQ(map.results()[x.bits], map(x));
  }
}

TYPED_TEST(Bulk, UnaryFormEqualsTheScalarFormWithAndWithoutAMap) {
  for (const std::size_t count :
       {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{65536}, std::size_t{200001}}) {
    const auto x = scattered<TypeParam>(count, 1);
    std::vector<TypeParam> out(count, TypeParam{0x5A5A});
    gelu_tanh<TypeParam>(x, out, kPytorch211Cuda);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(out[i], gelu_tanh(x[i], kPytorch211Cuda)) << i;
  }
}

TYPED_TEST(Bulk, BiasedFormEqualsTheScalarFormForSpecialValuesAgainstAllBiases) {
  const auto bias = all_values<TypeParam>();
  const auto map = gelu_tanh_map<TypeParam>(kPytorch211Cuda);
  std::vector<TypeParam> row(bias.size()), swept(bias.size());
  for (const TypeParam x : special_values<TypeParam>()) {
    const std::vector<TypeParam> repeated_x(bias.size(), x);
    const auto expected = scalar_rows<TypeParam>(repeated_x, bias, kPytorch211Cuda);
    ASSERT_EQ(bulk_rows<TypeParam>(repeated_x, bias, kPytorch211Cuda), expected) << "x = " << x;
    map.apply_to_sums(x, bias, swept);
    ASSERT_EQ(swept, expected) << "x = " << x;
    map.apply_to_sums(repeated_x, bias, swept);
    ASSERT_EQ(swept, expected) << "x = " << x;
  }
}

TYPED_TEST(Bulk, RowsOfEveryKindOfWidthShareTheirBias) {
  for (const std::size_t width : {1u, 2u, 3u, 7u, 64u, 1000u, 4096u, 8191u, 8192u, 8193u, 20000u}) {
    for (const std::size_t rows : {1u, 2u, 13u}) {
      const auto x = scattered<TypeParam>(rows * width, 2);
      const auto bias = scattered<TypeParam>(width, 3);
      ASSERT_EQ(bulk_rows<TypeParam>(x, bias, kPytorch211Cuda),
                scalar_rows<TypeParam>(x, bias, kPytorch211Cuda))
          << rows << " x " << width;
    }
  }
}

TYPED_TEST(Bulk, FollowsTheProfile) {
  Profile fused = kPytorch211Cuda;
  fused.sum_rounding = SumRounding::none;
  const auto x = scattered<TypeParam>(100000, 4);
  const auto bias = scattered<TypeParam>(1000, 5);
  for (const Profile& profile : {kPytorch211CudaLimit, fused}) {
    EXPECT_EQ(bulk_rows<TypeParam>(x, bias, profile), scalar_rows<TypeParam>(x, bias, profile));
  }
}

TYPED_TEST(Bulk, IsTheSameOnAnyNumberOfThreads) {
  const auto x = scattered<TypeParam>(300 * 1000, 6);
  const auto bias = scattered<TypeParam>(1000, 7);
  const auto expected = scalar_rows<TypeParam>(x, bias, kPytorch211Cuda);
  for (const std::size_t threads : {1u, 2u, 3u, 8u}) {
    const tbb::global_control limit(tbb::global_control::max_allowed_parallelism, threads);
    EXPECT_EQ(bulk_rows<TypeParam>(x, bias, kPytorch211Cuda), expected) << threads << " threads";
  }
}

TYPED_TEST(Bulk, WorksInPlace) {
  const auto x = scattered<TypeParam>(100 * 1000, 8);
  const auto bias = scattered<TypeParam>(1000, 9);
  auto both = x;
  bias_gelu_tanh<TypeParam>(both, bias, both, kPytorch211Cuda);
  EXPECT_EQ(both, scalar_rows<TypeParam>(x, bias, kPytorch211Cuda));
  auto unary = x;
  gelu_tanh<TypeParam>(unary, unary, kPytorch211Cuda);
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(unary[i], gelu_tanh(x[i], kPytorch211Cuda));
}

TYPED_TEST(Bulk, ShapesMustMatch) {
  std::vector<TypeParam> six(6), five(5), four(4), none;
  EXPECT_THROW(gelu_tanh<TypeParam>(six, five, kPytorch211Cuda), std::invalid_argument);
  EXPECT_THROW(bias_gelu_tanh<TypeParam>(six, six, five, kPytorch211Cuda), std::invalid_argument);
  EXPECT_THROW(bias_gelu_tanh<TypeParam>(six, four, six, kPytorch211Cuda), std::invalid_argument);
  EXPECT_THROW(bias_gelu_tanh<TypeParam>(six, none, six, kPytorch211Cuda), std::invalid_argument);
  EXPECT_NO_THROW(bias_gelu_tanh<TypeParam>(none, none, none, kPytorch211Cuda));
  const UnaryMap<TypeParam> identity([](TypeParam x) { return x; });
  EXPECT_THROW(identity.apply(six, five), std::invalid_argument);
  EXPECT_THROW(identity.apply_to_sums(six, five, six), std::invalid_argument);
  EXPECT_THROW(identity.apply_to_sums(TypeParam{}, five, six), std::invalid_argument);
}

RC_GTEST_PROP(BulkProperty, AChunkOfTheInputGivesTheSameChunkOfTheOutput, ()) {
  const auto seed = any_bits<std::uint32_t>();
  const auto size = any_bits<std::uint16_t>();
  const auto cut = any_bits<std::uint16_t>();
  const auto x = scattered<Fp16>(std::size_t{size} * 2, seed);
  const auto bias = scattered<Fp16>(x.size(), seed + 1);
  const std::size_t at = x.empty() ? 0 : cut % x.size();
  const auto whole = bulk_rows<Fp16>(x, bias, kPytorch211Cuda);
  const auto head = bulk_rows<Fp16>(std::span(x).first(at), std::span(bias).first(at), kPytorch211Cuda);
  auto parts = head;
  const auto tail = bulk_rows<Fp16>(std::span(x).subspan(at), std::span(bias).subspan(at), kPytorch211Cuda);
  parts.insert(parts.end(), tail.begin(), tail.end());
  RC_ASSERT(parts == whole);
}

RC_GTEST_PROP(BulkProperty, NanInGivesTheCanonicalNanOut, ()) {
  const auto payload = any_bits<std::uint16_t>();
  const auto other = any_bits<std::uint16_t>();
  const Bf16 nan{static_cast<std::uint16_t>(payload | 0x7F81)};
  const std::vector<Bf16> x{nan, Bf16{other}}, bias{Bf16{other}, nan};
  RC_ASSERT(bulk_rows<Bf16>(x, bias, kPytorch211Cuda) == std::vector<Bf16>(2, Bf16{0x7FFF}));
}

}  // namespace
}  // namespace bitproof::reference
