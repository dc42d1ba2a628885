// Files that are either the old or the new one, whole, whatever happens while they are written.
#pragma once

#include <filesystem>
#include <string_view>

#include "conformance/report/result.h"

namespace bitproof::conformance {

// Replaces `file`: writes a temporary file beside it, flushes it to the disk, renames it, and flushes the
// directory. When it fails, the old file is untouched. One writer at a time.
Result<Done> replace_file(const std::filesystem::path& file, std::string_view text);

// An exclusive lock on a directory, held by an open file in it and thus given up by the kernel when the process
// ends, however it ends. On file systems without locks it locks nothing.
class DirectoryLock {
 public:
  static Result<DirectoryLock> acquire(const std::filesystem::path& directory);
  DirectoryLock(DirectoryLock&& other) noexcept;
  DirectoryLock& operator=(DirectoryLock&& other) noexcept;
  ~DirectoryLock();

 private:
  explicit DirectoryLock(int descriptor) : descriptor_(descriptor) {}
  int descriptor_ = -1;
};

}  // namespace bitproof::conformance
