// Image files that hold several pictures, which an image reader would show the first of without a word.
#pragma once

#include <cstddef>
#include <span>

namespace bitproof::metrics {

enum class ImageKind {
  still,
  animated_png,   // an acTL chunk before the first IDAT (APNG 1.0)
  animated_webp,  // the animation bit of the VP8X chunk (RFC 9649, 2.7)
  gif,
};

inline constexpr std::size_t kImageHeadBytes = 4096;

// From the first kImageHeadBytes bytes of a file, or all of a shorter one.
ImageKind image_kind(std::span<const std::byte> head);

}  // namespace bitproof::metrics
