// The first level of identity: the bytes of the files.
#pragma once

#include <filesystem>
#include <span>

#include "metrics/identity/sha256.h"
#include "metrics/result.h"

namespace bitproof::metrics {

// SHA-256 of the files' bytes, one after the other; for one file, what sha256sum prints.
Result<Digest> file_digest(std::span<const std::filesystem::path> files);

}  // namespace bitproof::metrics
