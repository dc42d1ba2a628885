// A guard against drift: a digest of every unit function over 2^20 scattered arguments, as it was when the
// model was published. The literals are the model's own and prove nothing about hardware; they notice what the
// recorded tables and hand-derived results are too few to notice, such as a rounding constant that is off by
// one.
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "reference/half.h"
#include "reference/sfu.h"

namespace bitproof::reference {
namespace {

struct UnitDigest {
  std::string_view name;
  float (*function)(float);
  std::uint64_t digest;
};

void PrintTo(const UnitDigest& digest, std::ostream* stream) { *stream << digest.name; }

// Arguments i * 4093 + 1 modulo 2^32, a progression through all signs, exponents and fractions; results folded
// by multiplication with an odd constant, so that each one and its position count.
std::uint64_t digest_of(float (*function)(float)) {
  std::uint64_t digest = 0;
  std::uint32_t bits = 1;
  for (int i = 0; i < 1 << 20; ++i) {
    digest = (digest ^ float_bits(function(float_from_bits(bits)))) * 0x9E3779B97F4A7C15u;
    digest ^= digest >> 29;
    bits += 4093;
  }
  return digest;
}

class UnitDigestTest : public ::testing::TestWithParam<UnitDigest> {};

TEST_P(UnitDigestTest, HasNotDrifted) { EXPECT_EQ(digest_of(GetParam().function), GetParam().digest); }

INSTANTIATE_TEST_SUITE_P(Unit, UnitDigestTest,
                         ::testing::Values(UnitDigest{"ex2_ftz", sfu::ex2_approx_ftz, 0x2d52910f1c4fbd14u},
                                           UnitDigest{"rcp_ftz", sfu::rcp_approx_ftz, 0x365a9eb273335b38u},
                                           UnitDigest{"tanh", sfu::tanh_approx, 0x03c01d15b8257648u},
                                           UnitDigest{"rsqrt_ftz", sfu::rsqrt_approx_ftz, 0xab2a3d7099043a1cu},
                                           UnitDigest{"sqrt_ftz", sfu::sqrt_approx_ftz, 0x6f41adceba7debf7u},
                                           UnitDigest{"lg2_ftz", sfu::lg2_approx_ftz, 0x424c316527e20080u},
                                           UnitDigest{"sin_ftz", sfu::sin_approx_ftz, 0x232b53c527923ba7u},
                                           UnitDigest{"cos_ftz", sfu::cos_approx_ftz, 0xba0eb4ca16840535u},
                                           UnitDigest{"ex2", sfu::ex2_approx, 0xfdf5d424da009b8eu},
                                           UnitDigest{"rcp", sfu::rcp_approx, 0xefdfc176b3c3b10au},
                                           UnitDigest{"rsqrt", sfu::rsqrt_approx, 0x27aa29a536b0594du},
                                           UnitDigest{"sqrt", sfu::sqrt_approx, 0xfdba5efdfa39cfe2u},
                                           UnitDigest{"lg2", sfu::lg2_approx, 0xccbaaef87e88f6f2u}),
                         [](const auto& unit) { return std::string(unit.param.name); });

}  // namespace
}  // namespace bitproof::reference
