// What libbitproof.so shows and what it needs.
#include <array>
#include <cstdio>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace bitproof::conformance {
namespace {

std::vector<std::string> lines_of(const std::string& command) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  std::string text;
  std::array<char, 4096> buffer;
  while (const std::size_t read = std::fread(buffer.data(), 1, buffer.size(), pipe.get()))
    text.append(buffer.data(), read);
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

TEST(Library, ExportsTheDocumentedFunctionsAndNothingElse) {
  const std::vector<std::string> symbols =
      lines_of("nm -D --defined-only --format=posix '" BITPROOF_LIBRARY "' | cut -d' ' -f1 | sort");
  const std::vector<std::string> declared = lines_of(
      "grep -oE 'bitproof_[a-z_]+\\(const|bitproof_[a-z_]+\\(bitproof|bitproof_[a-z_]+\\(void' "
      "'" BITPROOF_HEADER
      "' | grep -oE '^bitproof_[a-z_]+' | sort -u | grep -vE "
      "'^bitproof_(call|kernel|kernel_function|check_options)$'");
  ASSERT_EQ(symbols.size(), 13u);
  EXPECT_EQ(symbols, declared);
}

TEST(Library, NeedsNoDriver) {
  const std::vector<std::string> needed = lines_of("readelf -d '" BITPROOF_LIBRARY "' | grep NEEDED");
  ASSERT_FALSE(needed.empty());
  for (const std::string& line : needed) EXPECT_EQ(line.find("cuda"), std::string::npos) << line;
}

}  // namespace
}  // namespace bitproof::conformance
