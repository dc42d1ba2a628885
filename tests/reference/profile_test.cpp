#include "reference/profile.h"

#include <set>
#include <string_view>

#include <gtest/gtest.h>

#include "reference/bulk.h"
#include "reference/operators.h"
#include "tests/reference/support.h"

namespace bitproof::reference {
namespace {

TEST(Profile, IsFoundByItsName) {
  for (const Profile& profile : profiles()) {
    const auto found = find_profile(profile.name);
    ASSERT_TRUE(found.has_value());
    EXPECT_EQ(found->name, profile.name);
  }
  EXPECT_EQ(kPytorch211Cuda.name, "pytorch-2.11-cuda");
  EXPECT_FALSE(find_profile("pytorch-2.11").has_value());
}

TEST(Profile, NamesAreUnique) {
  std::set<std::string_view> names;
  for (const Profile& profile : profiles()) EXPECT_TRUE(names.insert(profile.name).second) << profile.name;
}

template <class T>
using ProfileOf = ForEachDtype<T>;
TYPED_TEST_SUITE(ProfileOf, Dtypes);

TYPED_TEST(ProfileOf, LimitAtNegativeInfinityChangesThatValueAlone) {
  for (const TypeParam x : all_values<TypeParam>()) {
    const TypeParam result = gelu_tanh(x, kPytorch211CudaLimit);
    if (x == kNegativeInfinity<TypeParam>) {
      EXPECT_EQ(result, TypeParam{0x8000});
    } else {
      EXPECT_EQ(result, gelu_tanh(x, kPytorch211Cuda)) << "x = " << x;
    }
  }
  // A sum that overflows when it is rounded is the same -inf.
  EXPECT_EQ(bias_gelu_tanh(kNegativeInfinity<TypeParam>, TypeParam{0}, kPytorch211CudaLimit),
            TypeParam{0x8000});
  EXPECT_EQ(bias_gelu_tanh(negated(kLargest<TypeParam>), negated(kLargest<TypeParam>), kPytorch211CudaLimit),
            TypeParam{0x8000});
}

TYPED_TEST(ProfileOf, ChoicesAreData) {
  Profile profile = kPytorch211Cuda;
  profile.nan_bits = 0x7FC0;
  EXPECT_EQ(gelu_tanh(kNegativeInfinity<TypeParam>, profile).bits, 0x7FC0);
  profile.gelu_of_negative_infinity = 0.0f;
  EXPECT_EQ(gelu_tanh(kNegativeInfinity<TypeParam>, profile).bits, 0x0000);
  EXPECT_EQ(gelu_tanh(TypeParam{0xFFFF}, profile).bits, 0x7FC0);
}

TEST(Profile, WithoutRoundingOfTheSumATieIsVisible) {
  Profile profile = kPytorch211Cuda;
  profile.sum_rounding = SumRounding::none;
  // 1 + 2^-8: rounded to bf16 it is 1 and gives 0x3F57.
  EXPECT_EQ(bias_gelu_tanh(Bf16{0x3F80}, Bf16{0x3B80}, profile), Bf16{0x3F58});
}

TEST(Profile, OnTheUnitsTanhIsTheSixHundredFortyFiveValuesOff) {
  Profile profile = kPytorch211Cuda;
  profile.tanh = Tanh::tanh_approx;
  int different = 0;
  for (const Fp16 x : all_values<Fp16>()) different += gelu_tanh(x, profile) != gelu_tanh(x, kPytorch211Cuda);
  EXPECT_EQ(different, 645);
}

}  // namespace
}  // namespace bitproof::reference
