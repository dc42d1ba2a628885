#include "reference/environment.h"

#include <cfenv>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "reference/bulk.h"
#include "tests/reference/support.h"

#if defined(__SSE2__)
#include <pmmintrin.h>
#include <xmmintrin.h>
#endif

namespace bitproof::reference {

#if defined(BITPROOF_CONTRACTED_TEST)
// Compiled with contraction on: environment_contracted.cpp.
std::optional<std::string> environment_fault_seen_by_contracted_code();
#endif

namespace {

// Restores the thread's modes when the test ends.
class Environment : public ::testing::Test {
 protected:
  Environment() { std::fegetenv(&saved_); }
  ~Environment() override { std::fesetenv(&saved_); }

  static void expect_refusal(const std::string& reason) {
    const auto fault = environment_fault();
    ASSERT_TRUE(fault.has_value());
    EXPECT_NE(fault->find(reason), std::string::npos) << *fault;
    EXPECT_THROW(require_environment(), EnvironmentError);

    std::vector<Bf16> x(100000, Bf16{0x3F80});
    std::vector<Bf16> out(x.size());
    EXPECT_THROW(gelu_tanh_map<Bf16>(kPytorch211Cuda), EnvironmentError);
    EXPECT_THROW(gelu_tanh<Bf16>(x, out, kPytorch211Cuda), EnvironmentError);
    EXPECT_THROW(bias_gelu_tanh<Bf16>(x, x, out, kPytorch211Cuda), EnvironmentError);
  }

 private:
  std::fenv_t saved_;
};

TEST_F(Environment, OfAFreshThreadIsAccepted) {
  EXPECT_EQ(environment_fault(), std::nullopt);
  EXPECT_NO_THROW(require_environment());
}

TEST_F(Environment, EveryOtherRoundingModeIsRefused) {
  for (const int mode : {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}) {
    ASSERT_EQ(std::fesetround(mode), 0);
    expect_refusal("rounding mode");
  }
}

TEST_F(Environment, IsAcceptedAgainOnceRestored) {
  ASSERT_EQ(std::fesetround(FE_UPWARD), 0);
  EXPECT_TRUE(environment_fault().has_value());
  ASSERT_EQ(std::fesetround(FE_TONEAREST), 0);
  EXPECT_EQ(environment_fault(), std::nullopt);
}

#if defined(__SSE2__)
TEST_F(Environment, FlushToZeroIsRefused) {
  _MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_ON);
  expect_refusal("FTZ");
}

TEST_F(Environment, DenormalsAreZeroIsRefused) {
  _MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_ON);
  expect_refusal("DAZ");
}

TEST_F(Environment, RoundingModeOfSseAloneIsRefused) {
  // MXCSR only: fegetround reads the x87 control word and notices nothing.
  for (const unsigned mode : {_MM_ROUND_UP, _MM_ROUND_DOWN, _MM_ROUND_TOWARD_ZERO}) {
    _MM_SET_ROUNDING_MODE(mode);
    expect_refusal("rounding mode");
  }
}
#endif

#if defined(BITPROOF_CONTRACTED_TEST)
TEST_F(Environment, ContractionIsRefused) {
  // The probing code uses FMA instructions; without them there is nothing to contract to.
  if (!__builtin_cpu_supports("fma")) return;
  const auto fault = environment_fault_seen_by_contracted_code();
  ASSERT_TRUE(fault.has_value());
  EXPECT_NE(fault->find("-ffp-contract=off"), std::string::npos) << *fault;
}
#endif

}  // namespace
}  // namespace bitproof::reference
