#include "conformance/report/text_file.h"

#include <fstream>
#include <system_error>

namespace bitproof::conformance {

Result<std::string> read_text_file(const std::filesystem::path& file, const std::string& remedy) {
  const Error unreadable{ErrorKind::unreadable, "cannot be read", file.string(), remedy};
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return unreadable;
  std::ifstream in(file, std::ios::binary);
  std::string text(static_cast<std::size_t>(std::filesystem::file_size(file, error)), '\0');
  if (error || !in.read(text.data(), static_cast<std::streamsize>(text.size()))) return unreadable;
  return text;
}

}  // namespace bitproof::conformance
