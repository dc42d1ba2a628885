// Reports from disk into one.
#pragma once

#include <filesystem>
#include <vector>

#include "conformance/gate/merge.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

struct LoadedReports {
  Merged merged;
  std::vector<Error> errors;  // of what could not be read, in the order of the paths
  std::size_t files = 0;
};

// A path is a report, the directory of a report, or a directory with such directories at any depth, as a CI
// system leaves them. Reports are read on all processors, one in memory per processor, and merged in the order
// of the paths.
LoadedReports load_reports(const std::vector<std::filesystem::path>& paths);

}  // namespace bitproof::conformance
