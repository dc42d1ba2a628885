#include "tests/metrics/support/expected.h"

#include <nlohmann/json.hpp>

#include "tests/metrics/support/files.h"

namespace bitproof::metrics::test {

Expected read_expected(const std::filesystem::path& file) {
  Expected leaves;
  const nlohmann::json flat = nlohmann::json::parse(read_file(file)).flatten();
  for (const auto& [path, leaf] : flat.items())
    leaves[path] = leaf.is_string() ? leaf.get<std::string>() : leaf.dump();
  return leaves;
}

}  // namespace bitproof::metrics::test
