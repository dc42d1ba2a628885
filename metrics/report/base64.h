// Base64 (RFC 4648, section 4), to carry pictures inside a page.
#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace bitproof::metrics {

std::string base64(std::span<const std::byte> bytes);

}  // namespace bitproof::metrics
