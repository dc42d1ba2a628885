// Whether an ISO base media file (MP4, MOV) carries an edit list. Frames are compared as they are coded, so an
// edit list is not applied; it is only reported (ISO/IEC 14496-12, 8.6.6 Edit List Box).
#pragma once

#include <cstdint>
#include <filesystem>
#include <istream>
#include <optional>
#include <string>
#include <vector>

namespace bitproof::metrics {

struct Edit {
  std::uint64_t duration;   // in the movie's time scale
  std::int64_t media_time;  // in the track's; -1 is an empty edit
  bool operator==(const Edit&) const = default;
};

// The edits of the first edit list that says more than "from time 0"; nothing when there is none, or when the
// bytes are no such file. Never reads more than a few kilobytes besides box headers.
std::optional<std::vector<Edit>> find_edit_list(std::istream& file);

std::string describe(const std::vector<Edit>& edits);

}  // namespace bitproof::metrics
