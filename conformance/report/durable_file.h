// Files that are either the old or the new one, whole, whatever happens while they are written.
#pragma once

#include <filesystem>
#include <functional>
#include <string_view>

#include "conformance/report/result.h"

namespace bitproof::conformance {

// Takes the next piece of a file.
using Sink = std::function<void(std::string_view)>;

// Replaces `file`: writes a temporary file beside it, flushes it to the disk, renames it, and flushes the
// directory. When it fails, the old file is untouched. One writer at a time.
Result<Done> replace_file(const std::filesystem::path& file, std::string_view text);
// The same with the text that `produce` gives to its sink.
Result<Done> replace_file(const std::filesystem::path& file, const std::function<void(const Sink&)>& produce);

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
