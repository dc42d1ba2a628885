#pragma once

#include <filesystem>
#include <string>

#include "conformance/report/result.h"

namespace bitproof::conformance {

// The whole of a file. `remedy` is what the error advises when it cannot be read.
Result<std::string> read_text_file(const std::filesystem::path& file, const std::string& remedy);

}  // namespace bitproof::conformance
