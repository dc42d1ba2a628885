// Where the inputs of an elementwise case come from: a rule that gives the element at any position from its
// numbers alone, the same on the CPU and on a GPU. Nothing but inputs is ever made on a device.
#pragma once

#include <array>
#include <cstdint>

#include "conformance/digest.h"

namespace bitproof::conformance {

enum class InputRule {
  all_values,   // input = the element's index, bias = -0, which changes no sum
  all_pairs,    // input = the row, bias = the column
  special,      // input = special[row], bias = special[column]; of a unary operator input = special[column]
  random_bits,  // any 16 bits, each pattern as likely
  activations,  // sums of uniform numbers, near to normal: mean 0, standard deviation 2.3 (input) and 0.58
                // (bias)
};

inline constexpr std::size_t kMaxSpecials = 192;

struct InputSource {
  InputRule rule = InputRule::all_values;
  bool fp16 = false;
  bool unary = false;
  std::uint64_t seed = 0;
  std::uint64_t first_row = 0;  // of the case, within the domain
  std::uint64_t width = 1;
  std::uint64_t bias_stream = 0;  // cases with one number have one bias
  std::uint32_t special_count = 0;
  std::array<std::uint16_t, kMaxSpecials> special{};

  // `row` counts from the first row of the case.
  BITPROOF_HOST_DEVICE std::uint16_t input(std::uint64_t row, std::uint64_t column) const {
    const std::uint64_t index = (first_row + row) * width + column;
    switch (rule) {
      case InputRule::all_values:
        return static_cast<std::uint16_t>(index);
      case InputRule::all_pairs:
        return static_cast<std::uint16_t>(first_row + row);
      case InputRule::special:
        return special_at(unary ? column : first_row + row);
      case InputRule::random_bits:
        return static_cast<std::uint16_t>(mix64(mix64(seed) + index));
      case InputRule::activations:
        return half_bits(mix64(mix64(seed) + index), kInputScale);
    }
    return 0;
  }

  BITPROOF_HOST_DEVICE std::uint16_t bias(std::uint64_t column) const {
    // A stream of its own: the seed's complement.
    const std::uint64_t noise = mix64(mix64(~seed ^ bias_stream) + column);
    switch (rule) {
      case InputRule::all_values:
        return 0x8000;
      case InputRule::all_pairs:
        return static_cast<std::uint16_t>(column);
      case InputRule::special:
        return special_at(column);
      case InputRule::random_bits:
        return static_cast<std::uint16_t>(noise);
      case InputRule::activations:
        return half_bits(noise, kBiasScale);
    }
    return 0;
  }

 private:
  static constexpr float kInputScale = 0x1p-14f;
  static constexpr float kBiasScale = 0x1p-16f;

  // C arrays' elements are reachable in device code, std::array's operator[] is not everywhere.
  BITPROOF_HOST_DEVICE std::uint16_t special_at(std::uint64_t i) const {
    return special.data()[i % special_count];
  }

  // The sum of the four 16-bit numbers in `noise`, centred, times `scale`, truncated to the format. Exact
  // integers below 2^24 and powers of two: the same on every machine.
  BITPROOF_HOST_DEVICE std::uint16_t half_bits(std::uint64_t noise, float scale) const {
    const std::int32_t sum = static_cast<std::int32_t>((noise & 0xFFFF) + (noise >> 16 & 0xFFFF) +
                                                       (noise >> 32 & 0xFFFF) + (noise >> 48)) -
                             2 * 0xFFFF;
    const float value = static_cast<float>(sum) * scale;
    std::uint32_t bits;
    __builtin_memcpy(&bits, &value, sizeof bits);
    if (!fp16) return static_cast<std::uint16_t>(bits >> 16);
    const std::uint32_t sign = bits >> 16 & 0x8000;
    const std::uint32_t magnitude = bits & 0x7FFFFFFF;
    // The smallest magnitude but zero is 2^-16, an fp16 subnormal: 256 units of 2^-24.
    if (magnitude < 0x38800000) {
      const float units = (value < 0 ? -value : value) * 0x1p24f;
      return static_cast<std::uint16_t>(sign | static_cast<std::uint32_t>(units));
    }
    return static_cast<std::uint16_t>(sign | ((magnitude >> 13) - (112u << 10)));
  }
};

}  // namespace bitproof::conformance
