// Decodes on a thread of its own, a few frames ahead of who asks for them.
#pragma once

#include <memory>

#include "metrics/media/source.h"

namespace bitproof::metrics {

// The frames of `source`, in the same order and with the same failures.
std::unique_ptr<FrameSource> prefetch(std::unique_ptr<FrameSource> source);

}  // namespace bitproof::metrics
