#include "metrics/media/animation.h"

#include <cstdint>
#include <string_view>

namespace bitproof::metrics {
namespace {

bool is_animated_png(std::string_view head) {
  std::size_t at = 8;  // after the signature
  while (head.size() >= at + 8) {
    const std::string_view type = head.substr(at + 4, 4);
    if (type == "acTL") return true;
    if (type == "IDAT") return false;
    std::uint32_t length = 0;
    for (const char byte : head.substr(at, 4)) length = length << 8 | static_cast<unsigned char>(byte);
    at += std::size_t{12} + length;  // length, type, data, checksum
  }
  return false;
}

bool is_animated_webp(std::string_view head) {
  constexpr unsigned kAnimationBit = 2;
  return head.size() > 20 && head.substr(12, 4) == "VP8X" &&
         (static_cast<unsigned char>(head[20]) & kAnimationBit) != 0;
}

}  // namespace

ImageKind image_kind(std::span<const std::byte> head) {
  const std::string_view text(reinterpret_cast<const char*>(head.data()), head.size());
  if (text.starts_with("\x89PNG\r\n\x1a\n"))
    return is_animated_png(text) ? ImageKind::animated_png : ImageKind::still;
  if (text.starts_with("GIF8")) return ImageKind::gif;
  if (text.starts_with("RIFF") && text.size() > 12 && text.substr(8, 4) == "WEBP")
    return is_animated_webp(text) ? ImageKind::animated_webp : ImageKind::still;
  return ImageKind::still;
}

}  // namespace bitproof::metrics
