// Computes the machine-code keys during the build and prints them as rows of a C++ table.
//
//   key_tool (IMPLEMENTATION ARCHITECTURE TOOLCHAIN OBJECT)...
#include <algorithm>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "conformance/machine_code/code_sections.h"
#include "conformance/report/sha256.h"
#include "kernels/launch_rule.h"

namespace {

using namespace bitproof;

std::vector<std::byte> read_file(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw std::runtime_error(path + ": cannot be read");
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::vector<std::byte> bytes(text.size());
  std::ranges::transform(text, bytes.begin(), [](char c) { return static_cast<std::byte>(c); });
  return bytes;
}

// Every part is preceded by its length, so that no two different lists hash alike.
void append(std::string& content, std::string_view part) {
  content += fmt::format("{}:", part.size());
  content += part;
}

std::string key(const std::string& implementation, const std::string& architecture,
                const std::string& toolchain, const std::string& object) {
  const std::vector<std::byte> file = read_file(object);
  const std::vector<conformance::CodeSection> sections = conformance::code_sections(file);
  if (sections.empty()) throw std::runtime_error(object + ": holds no code");
  std::string content;
  append(content, toolchain);
  append(content, kernels::launch_rule_text(implementation, architecture));
  for (const conformance::CodeSection& section : sections) {
    append(content, section.name);
    append(content, {reinterpret_cast<const char*>(section.bytes.data()), section.bytes.size()});
  }
  return conformance::sha256_hex(content);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::vector<std::string> arguments(argv + 1, argv + argc);
    if (arguments.size() % 4 != 0)
      throw std::runtime_error("arguments: (IMPLEMENTATION ARCHITECTURE TOOLCHAIN OBJECT)...");
    for (std::size_t i = 0; i < arguments.size(); i += 4)
      fmt::print("{{\"{}\", \"{}\", \"{}\"}},\n", arguments[i], arguments[i + 1],
                 key(arguments[i], arguments[i + 1], arguments[i + 2], arguments[i + 3]));
    return 0;
  } catch (const std::exception& error) {
    fmt::print(stderr, "key_tool: {}\n", error.what());
    return 1;
  }
}
