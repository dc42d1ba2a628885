// host.eager: sums in binary64 and the production GELU, against the reference.
#include <gtest/gtest.h>

#include "conformance/linear/check.h"
#include "conformance/linear/exact_step.h"
#include "conformance/linear/plan.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;

// Every check of host.eager, whole.
TEST(HostEager, IsBitExactOverEveryDomain) {
  int checks = 0;
  for (const PlannedCheck& planned : plan_linear(reference::kPytorch211Cuda, 1, {})) {
    if (planned.record.device != "cpu") continue;
    ASSERT_TRUE(planned.start);
    const auto check = planned.start();
    Record sum = check->plan();
    for (std::uint64_t block = 0; block < sum.blocks_total; ++block)
      sum = *combine(sum, check->run_block(block));
    EXPECT_EQ(sum.verdict, Verdict::bit_exact) << label(sum) << ": " << sum.reason;
    EXPECT_EQ(sum.tested, sum.total) << label(sum);
    ++checks;
  }
  EXPECT_EQ(checks, 10) << "five domains, two dtypes";
}

template <Half T>
void expect_nearest_of_every_neighbourhood() {
  for (std::uint32_t bits = 0; bits < 65536; ++bits) {
    const T number{static_cast<std::uint16_t>(bits)};
    if (!reference::is_finite(number)) continue;
    const auto value = static_cast<double>(reference::widen(number));
    const T next{static_cast<std::uint16_t>(bits + 1)};
    EXPECT_EQ(nearest<T>(value), number);
    if (!reference::is_finite(next)) continue;
    // A tie goes to the even one of two neighbours; anything beyond it to the nearer.
    const double tie = (value + static_cast<double>(reference::widen(next))) / 2;
    EXPECT_EQ(nearest<T>(tie), bits % 2 == 0 ? number : next) << bits;
    EXPECT_EQ(nearest<T>(tie * (1 + 0x1p-40)), next) << bits;
    EXPECT_EQ(nearest<T>(tie * (1 - 0x1p-40)), number) << bits;
  }
}

TEST(Nearest, RoundsToTheNearestBf16TiesToEven) { expect_nearest_of_every_neighbourhood<Bf16>(); }
TEST(Nearest, RoundsToTheNearestFp16TiesToEven) { expect_nearest_of_every_neighbourhood<Fp16>(); }

TEST(Nearest, OverflowsHalfAnUlpAboveTheLargestNumber) {
  EXPECT_EQ(nearest<Fp16>(65519.99).bits, 0x7BFF);
  EXPECT_EQ(nearest<Fp16>(65520).bits, 0x7C00);
  EXPECT_EQ(nearest<Fp16>(-65520).bits, 0xFC00);
  EXPECT_EQ(nearest<Bf16>(-INFINITY).bits, 0xFF80);
  EXPECT_EQ(nearest<Bf16>(NAN).bits, 0x7FFF);
  EXPECT_EQ(nearest<Bf16>(-0.0).bits, 0x8000);
}

}  // namespace
}  // namespace bitproof::conformance
