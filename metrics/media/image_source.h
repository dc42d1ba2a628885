// Frames from image files through OpenCV: depth and alpha as stored, no rotation by EXIF.
#pragma once

#include <filesystem>
#include <memory>

#include "metrics/media/source.h"

namespace bitproof::metrics {

// True when OpenCV knows the file's signature and it holds one picture; GIF and animated PNG are for
// open_video().
bool is_image_file(const std::filesystem::path& file);

Result<std::unique_ptr<FrameSource>> open_image(const std::filesystem::path& file, bool digest_frames);

// The images of the folder in the order of their numbers.
Result<std::unique_ptr<FrameSource>> open_image_folder(const std::filesystem::path& folder, bool digest_frames);

}  // namespace bitproof::metrics
