// What a container says about a video besides its samples.
#pragma once

#include <filesystem>
#include <vector>

#include "metrics/media/libav.h"
#include "metrics/media/source.h"

namespace bitproof::metrics {

std::vector<Property> video_properties(const AVFormatContext& container, const AVStream& stream,
                                       const std::filesystem::path& file);

}  // namespace bitproof::metrics
