// A folder of its own for a test, gone with it; and files as strings.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace bitproof::metrics::test {

class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view bytes);

// A committed file: fixture("clips/pair81_a.mp4").
std::filesystem::path fixture(std::string_view name);

}  // namespace bitproof::metrics::test
