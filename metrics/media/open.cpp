#include "metrics/media/open.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "metrics/media/image_source.h"
#include "metrics/media/prefetch.h"
#include "metrics/media/video_source.h"

namespace bitproof::metrics {
namespace {

Result<std::unique_ptr<FrameSource>> open_file_or_folder(const std::filesystem::path& path,
                                                         const OpenOptions& options) {
  const auto unreadable = [&](std::string_view what) {
    return Failure{FailureKind::unreadable, fmt::format("{}: {}", path.string(), what)};
  };
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) return unreadable("no such file or folder");
  if (std::filesystem::is_directory(status)) return open_image_folder(path, options.digest_frames);
  if (!std::filesystem::is_regular_file(status)) return unreadable("is neither a file nor a folder");
  if (std::filesystem::file_size(path, error) == 0 && !error) return unreadable("the file is empty");
  if (!options.raw && is_image_file(path)) return open_image(path, options.digest_frames);
  return open_video(path, {.raw = options.raw,
                           .threads = options.decoder_threads,
                           .digest_stream = options.digest_stream,
                           .digest_frames = options.digest_frames});
}

}  // namespace

Result<std::unique_ptr<FrameSource>> open_source(const std::filesystem::path& path,
                                                 const OpenOptions& options) {
  Result<std::unique_ptr<FrameSource>> source = open_file_or_folder(path, options);
  if (source && options.own_thread) return prefetch(std::move(*source));
  return source;
}

}  // namespace bitproof::metrics
