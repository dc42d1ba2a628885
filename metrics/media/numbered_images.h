// Folders of numbered images: which files, in which order.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>
#include <vector>

#include "metrics/result.h"

namespace bitproof::metrics {

struct NumberedImage {
  std::uint64_t number;
  std::filesystem::path path;
};

// The last run of digits of the name before its extension: 17 for "frame_0017.png"; nothing without one.
std::optional<std::uint64_t> image_number(std::string_view file_name);

// Files of the folder with an image's extension, by number. Unreadable when there is none, when one has no
// number, or when two have the same.
Result<std::vector<NumberedImage>> list_numbered_images(const std::filesystem::path& folder);

bool has_image_extension(const std::filesystem::path& file);

}  // namespace bitproof::metrics
