// From libav's frame to ours: names the planes, and lays packed or byte-swapped samples out as planes of native
// integers. Values are copied, never converted; planar native layouts are not even copied.
#pragma once

#include <memory>

#include "metrics/media/frame.h"
#include "metrics/media/libav.h"
#include "metrics/result.h"

namespace bitproof::metrics {

// The layout of the frame's pixel format; mismatch for a format whose samples cannot be read (hardware
// surfaces).
Result<FrameFormat> frame_format(const AVFrame& frame);

// `format` is frame_format(*native). Takes over the frame.
Result<Frame> unpack(FramePtr native, std::shared_ptr<const FrameFormat> format);

// SHA-256 over the picture's bytes without padding, rows of each plane in order: what
// `ffmpeg -f framehash -hash sha256` prints for the frame.
Digest frame_digest(const AVFrame& frame);

}  // namespace bitproof::metrics
