#include "metrics/identity/file_digest.h"

#include <fstream>
#include <vector>

#include <fmt/format.h>

namespace bitproof::metrics {

Result<Digest> file_digest(std::span<const std::filesystem::path> files) {
  Sha256 sha;
  std::vector<char> buffer(std::size_t{1} << 20);
  for (const std::filesystem::path& file : files) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) return Failure{FailureKind::unreadable, fmt::format("{}: cannot be read", file.string())};
    while (stream.read(buffer.data(), static_cast<std::streamsize>(buffer.size())) || stream.gcount() > 0)
      sha.update(std::as_bytes(std::span(buffer.data(), static_cast<std::size_t>(stream.gcount()))));
    if (stream.bad()) return Failure{FailureKind::unreadable, fmt::format("{}: reading failed", file.string())};
  }
  return sha.finish();
}

}  // namespace bitproof::metrics
