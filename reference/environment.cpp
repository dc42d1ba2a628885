#include "reference/environment.h"

#include <bit>
#include <cfenv>
#include <cstdint>
#include <limits>

namespace bitproof::reference {
namespace {

constexpr float kSmallestNormal = std::numeric_limits<float>::min();
constexpr float kSmallestSubnormal = std::numeric_limits<float>::denorm_min();

// The probes compute with volatile operands, so that they happen now, on this thread, as the compiler
// translates the reference's own expressions. fegetround alone would not do: on x86-64 glibc reads the x87
// control word, while FP32 arithmetic obeys MXCSR.

// A comparison with 0 would itself be subject to DAZ.
bool is_positive_zero(float value) { return std::bit_cast<std::uint32_t>(value) == 0; }

bool flushes_results() {
  volatile float a = kSmallestNormal;
  return is_positive_zero(a * 0.5f);
}

bool flushes_operands() {
  volatile float a = kSmallestSubnormal;
  return is_positive_zero(a * 0x1p24f);
}

bool rounds_to_nearest_even() {
  volatile float one = 1.0f;
  volatile float below = one + 0x1p-24f;    // a tie: down to even
  volatile float above = one + 0x1.8p-23f;  // a tie: up to even
  volatile float negative = -one - 0x1p-24f;
  return below == 1.0f && above == 1.0f + 0x1p-22f && negative == -1.0f;
}

}  // namespace

std::optional<std::string> environment_fault(bool contracts) {
  if (flushes_results()) {
    return "FTZ is on: subnormal FP32 results become zero on this thread. Switch it off, for example with "
           "_MM_SET_FLUSH_ZERO_MODE(_MM_FLUSH_ZERO_OFF); a library linked with -ffast-math switches it on when "
           "loaded.";
  }
  if (flushes_operands()) {
    return "DAZ is on: subnormal FP32 operands count as zero on this thread. Switch it off, for example with "
           "_MM_SET_DENORMALS_ZERO_MODE(_MM_DENORMALS_ZERO_OFF); a library linked with -ffast-math switches it "
           "on "
           "when loaded.";
  }
  if (std::fegetround() != FE_TONEAREST || !rounds_to_nearest_even()) {
    return "The rounding mode of this thread is not to nearest even. Restore it with "
           "std::fesetround(FE_TONEAREST).";
  }
  if (contracts) {
    return "The compiler contracts a*b + c into a fused multiply-add, which changes bits. Compile with "
           "-ffp-contract=off.";
  }
  return std::nullopt;
}

void require_environment(bool contracts) {
  if (const auto fault = environment_fault(contracts)) throw EnvironmentError(*fault);
}

}  // namespace bitproof::reference
