#include "tests/metrics/support/files.h"

#include <fstream>
#include <iterator>
#include <stdexcept>

namespace bitproof::metrics::test {

std::string read_file(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) throw std::runtime_error("cannot read " + file.string());
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

void write_file(const std::filesystem::path& file, std::string_view bytes) {
  std::ofstream stream(file, std::ios::binary);
  stream.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream) throw std::runtime_error("cannot write " + file.string());
}

std::filesystem::path fixture(std::string_view name) { return std::filesystem::path(BITPROOF_FIXTURES) / name; }

}  // namespace bitproof::metrics::test
