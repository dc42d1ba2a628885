// Recorded values: the leaves of a JSON file by their path, as text. Only expected.cpp has to compile a JSON
// reader.
#pragma once

#include <filesystem>
#include <map>
#include <string>

namespace bitproof::metrics::test {

using Expected = std::map<std::string, std::string>;  // "/pictures/0/ms-ssim" to "0.964267892798774"

Expected read_expected(const std::filesystem::path& file);

}  // namespace bitproof::metrics::test
