#include "conformance/gate/bit_layout.h"

#include <charconv>

namespace bitproof::conformance {

std::optional<BitLayout> layout_of(std::string_view dtype) {
  if (dtype == "bf16") return BitLayout{8, 7};
  if (dtype == "fp16") return BitLayout{5, 10};
  if (dtype == "fp32") return BitLayout{8, 23};
  return std::nullopt;
}

std::optional<BitFields> fields_of(std::string_view hex, const BitLayout& layout) {
  if (!hex.starts_with("0x")) return std::nullopt;
  std::uint64_t bits = 0;
  const auto [end, error] = std::from_chars(hex.data() + 2, hex.data() + hex.size(), bits, 16);
  if (error != std::errc{} || end != hex.data() + hex.size() || bits >> layout.width() != 0)
    return std::nullopt;
  std::string text;
  for (int bit = layout.width() - 1; bit >= 0; --bit) text += (bits >> bit & 1) != 0 ? '1' : '0';
  const auto exponent = static_cast<std::size_t>(layout.exponent_bits);
  return BitFields{text.substr(0, 1), text.substr(1, exponent), text.substr(1 + exponent)};
}

}  // namespace bitproof::conformance
