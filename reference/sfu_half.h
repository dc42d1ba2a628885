// The special-function unit's 16-bit forms: the FP32 result truncated to the short format, not rounded.
// Measured for all 65,536 inputs of each (reference/README.md).
#pragma once

#include <cstdint>

#include "reference/half.h"
#include "reference/sfu.h"

namespace bitproof::reference::sfu {

// FP32 to T toward zero; every NaN becomes 0x7FFF.
template <Half T>
constexpr T truncate_to(float value) {
  const T nearest = round_to<T>(value);
  if (is_nan(nearest)) return nearest;
  // Rounding moved away from zero when the result's magnitude is the greater one.
  const std::uint32_t rounded = float_bits(widen(nearest)) & 0x7FFFFFFFu;
  const bool away = rounded > (float_bits(value) & 0x7FFFFFFFu);
  return away ? T{static_cast<std::uint16_t>(nearest.bits - 1)} : nearest;
}

// tanh.approx.f16 and tanh.approx.bf16.
template <Half T>
constexpr T tanh_approx(T a) {
  return truncate_to<T>(tanh_approx(widen(a)));
}

// ex2.approx.ftz.bf16.
constexpr Bf16 ex2_approx_ftz(Bf16 a) { return truncate_to<Bf16>(ex2_approx_ftz(widen(a))); }

}  // namespace bitproof::reference::sfu
