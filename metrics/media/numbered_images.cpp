#include "metrics/media/numbered_images.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <string>
#include <system_error>

#include <fmt/format.h>

namespace bitproof::metrics {
namespace {

constexpr std::array<std::string_view, 16> kImageExtensions = {".bmp", ".exr", ".hdr",  ".jp2", ".jpeg", ".jpg",
                                                               ".pam", ".pbm", ".pfm",  ".pgm", ".png",  ".pnm",
                                                               ".ppm", ".tif", ".tiff", ".webp"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

bool has_image_extension(const std::filesystem::path& file) {
  std::string extension = file.extension().string();
  std::transform(extension.begin(), extension.end(), extension.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::find(kImageExtensions.begin(), kImageExtensions.end(), extension) != kImageExtensions.end();
}

std::optional<std::uint64_t> image_number(std::string_view file_name) {
  const std::string_view stem = file_name.substr(0, file_name.rfind('.'));
  const auto last = std::find_if(stem.rbegin(), stem.rend(), is_digit);
  const auto first = std::find_if_not(last, stem.rend(), is_digit);
  const std::string_view digits(first.base(), static_cast<std::size_t>(last.base() - first.base()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (digits.empty() || error != std::errc{}) return std::nullopt;
  return number;
}

Result<std::vector<NumberedImage>> list_numbered_images(const std::filesystem::path& folder) {
  const auto unreadable = [&](std::string_view what) {
    return Failure{FailureKind::unreadable, fmt::format("{}: {}", folder.string(), what)};
  };
  std::error_code error;
  std::vector<NumberedImage> images;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    if (!entry->is_regular_file() || !has_image_extension(entry->path())) continue;
    const std::string name = entry->path().filename().string();
    const std::optional<std::uint64_t> number = image_number(name);
    if (!number)
      return unreadable(fmt::format("'{}' has no number in its name, so its place is unknown", name));
    images.push_back({*number, entry->path()});
  }
  if (error) return unreadable(fmt::format("the folder cannot be read: {}", error.message()));
  if (images.empty()) return unreadable("the folder holds no image");
  std::sort(images.begin(), images.end(), [](const NumberedImage& left, const NumberedImage& right) {
    return left.number != right.number ? left.number < right.number : left.path < right.path;
  });
  for (std::size_t i = 1; i < images.size(); ++i)
    if (images[i].number == images[i - 1].number)
      return unreadable(fmt::format("'{}' and '{}' have the same number",
                                    images[i - 1].path.filename().string(),
                                    images[i].path.filename().string()));
  return images;
}

}  // namespace bitproof::metrics
