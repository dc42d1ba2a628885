#include "conformance/report/durable_file.h"

#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

namespace bitproof::conformance {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  int get() const { return descriptor_; }
  bool valid() const { return descriptor_ >= 0; }
  // Errors of a late write, for example of a full quota, may show only here.
  bool close() { return ::close(std::exchange(descriptor_, -1)) == 0; }

 private:
  int descriptor_;
};

Error unwritable(const std::filesystem::path& file, const char* doing) {
  return {ErrorKind::unwritable, std::string{"cannot "} + doing + ": " + std::strerror(errno), file.string(),
          "free space or permit it, or name another directory with --report"};
}

// Writes through a buffer, and remembers that a write failed.
class Output {
 public:
  explicit Output(int descriptor) : descriptor_(descriptor) {}

  void add(std::string_view text) {
    if (buffer_.size() + text.size() > kBuffer) flush();
    if (text.size() > kBuffer) {
      write(text);
    } else {
      buffer_ += text;
    }
  }
  bool flush() {
    write(buffer_);
    buffer_.clear();
    return good_;
  }

 private:
  static constexpr std::size_t kBuffer = std::size_t{1} << 20;

  void write(std::string_view text) {
    while (good_ && !text.empty()) {
      const ssize_t written = ::write(descriptor_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      good_ = written >= 0;
      if (good_) text.remove_prefix(static_cast<std::size_t>(written));
    }
  }

  int descriptor_;
  std::string buffer_;
  bool good_ = true;
};

}  // namespace

Result<Done> replace_file(const std::filesystem::path& file, std::string_view text) {
  return replace_file(file, [&](const Sink& sink) { sink(text); });
}

Result<Done> replace_file(const std::filesystem::path& file, const std::function<void(const Sink&)>& produce) {
  std::filesystem::path temporary = file;
  temporary += ".part";
  Descriptor out(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!out.valid()) return unwritable(temporary, "create it");
  Output output(out.get());
  produce([&](std::string_view piece) { output.add(piece); });
  const bool stored = output.flush() && ::fsync(out.get()) == 0 && out.close();
  if (!stored) {
    Error error = unwritable(temporary, "write it");
    ::unlink(temporary.c_str());
    return error;
  }
  if (::rename(temporary.c_str(), file.c_str()) != 0) return unwritable(file, "replace it");

  // The rename itself is durable only once the directory is. Some file systems refuse, and the file is in place
  // anyway.
  const std::filesystem::path parent = file.has_parent_path() ? file.parent_path() : std::filesystem::path{"."};
  const Descriptor directory(::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory.valid()) ::fsync(directory.get());
  return Done{};
}

Result<DirectoryLock> DirectoryLock::acquire(const std::filesystem::path& directory) {
  const std::filesystem::path file = directory / ".lock";
  const int descriptor = ::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
  if (descriptor < 0) return unwritable(file, "create it");
  DirectoryLock lock(descriptor);
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    return Error{ErrorKind::occupied, "another process is writing a report here", directory.string(),
                 "wait for it, or name another directory with --report"};
  return lock;
}

DirectoryLock::DirectoryLock(DirectoryLock&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)) {}

DirectoryLock& DirectoryLock::operator=(DirectoryLock&& other) noexcept {
  std::swap(descriptor_, other.descriptor_);
  return *this;
}

DirectoryLock::~DirectoryLock() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace bitproof::conformance
