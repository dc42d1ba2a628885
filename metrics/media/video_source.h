// Frames of a video stream through libavformat and libavcodec: all coded frames in order of presentation,
// whatever time stamps, edit lists or rotation say.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>

#include "metrics/media/raw_format.h"
#include "metrics/media/source.h"

namespace bitproof::metrics {

struct VideoOptions {
  std::optional<RawFormat> raw;  // for headerless files
  int threads = 1;               // of the decoder; fixed, so that nothing depends on the machine
  bool digest_stream = false;
  bool digest_frames = false;
};

Result<std::unique_ptr<FrameSource>> open_video(const std::filesystem::path& file, const VideoOptions& options);

}  // namespace bitproof::metrics
