// Files as strings, in a directory of the test's own or among the fixtures.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "tests/support/temporary_directory.h"

namespace bitproof::metrics::test {

using support::TemporaryDirectory;

std::string read_file(const std::filesystem::path& file);
void write_file(const std::filesystem::path& file, std::string_view bytes);

// A committed file: fixture("clips/pair81_a.mp4").
std::filesystem::path fixture(std::string_view name);

}  // namespace bitproof::metrics::test
