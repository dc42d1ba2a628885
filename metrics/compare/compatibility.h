// Whether two frame formats can be compared, and what has to be left out or shifted when they differ.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "metrics/media/frame.h"

namespace bitproof::metrics {

struct Compatibility {
  std::vector<std::string> mismatches;        // one sentence each; empty: the formats agree
  std::shared_ptr<const FrameFormat> common;  // planes that both have, at the greater depth; empty: none
  std::vector<std::string> consequences;      // what comparing `common` means: planes left out, samples shifted
};

// Range and matrix disagree only when both are specified; one that is unspecified is a matter of metadata.
Compatibility check_formats(const FrameFormat& a, const FrameFormat& b);

// `common` for the frames of one side: with its own range and matrix, and the other side's where it specifies
// none, so that equal samples are equal colours too.
FrameFormat with_tags(FrameFormat common, const FrameFormat& own, const FrameFormat& other);

// The frame in the format `common`: its planes only, samples shifted left up to its depth. Cheap when nothing
// changes.
Frame align(const Frame& frame, const std::shared_ptr<const FrameFormat>& common);

}  // namespace bitproof::metrics
