// Opens whatever a path names: a folder of numbered images, an image file, or a video.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "metrics/media/raw_format.h"
#include "metrics/media/source.h"

namespace bitproof::metrics {

struct OpenOptions {
  std::optional<RawFormat> raw;  // reads the file as headerless frames of this format
  int decoder_threads = 1;
  bool own_thread = false;  // decode ahead on a thread of its own
  bool digest_stream = false;
  bool digest_frames = false;
};

Result<std::unique_ptr<FrameSource>> open_source(const std::filesystem::path& path, const OpenOptions& options);

}  // namespace bitproof::metrics
