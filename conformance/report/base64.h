// Base64 (RFC 4648, section 4, with padding) for bytes in JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bitproof::conformance {

std::string to_base64(std::span<const std::uint8_t> bytes);

// nullopt unless `text` is exactly what to_base64() gives for some bytes.
std::optional<std::vector<std::uint8_t>> from_base64(std::string_view text);

}  // namespace bitproof::conformance
