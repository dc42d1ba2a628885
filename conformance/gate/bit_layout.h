// The fields of a floating-point value as strings of bits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace bitproof::conformance {

struct BitLayout {
  int exponent_bits, significand_bits;  // of the stored significand
  int width() const { return 1 + exponent_bits + significand_bits; }
};

// bf16, fp16 (IEEE 754 binary16) and fp32 (binary32).
std::optional<BitLayout> layout_of(std::string_view dtype);

struct BitFields {
  std::string sign, exponent, significand;  // of '0' and '1', most significant first
};

// The fields of "0xb018"; nullopt when it is no hexadecimal number that fits.
std::optional<BitFields> fields_of(std::string_view hex, const BitLayout& layout);

}  // namespace bitproof::conformance
