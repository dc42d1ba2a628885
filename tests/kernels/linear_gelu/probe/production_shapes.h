// The shapes of the feed-forward layers that the fusion was written for.
#pragma once

#include "reference/linear/gemm.h"

namespace bitproof::probe {

inline constexpr reference::GemmShape kProductionShapes[] = {
    {.rows = 512, .columns = 12288, .depth = 3072},    // FLUX, text
    {.rows = 4096, .columns = 12288, .depth = 3072},   // FLUX, image
    {.rows = 32760, .columns = 13824, .depth = 5120},  // Wan, video
};

}  // namespace bitproof::probe
