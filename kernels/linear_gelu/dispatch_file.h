// The dispatch table of one architecture as a JSON file: written by `bitproof bench --write-dispatch`, read by
// whoever dispatches.
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "kernels/linear_gelu/dispatch_table.h"

namespace bitproof::kernels {

// Both paths measured in one process on one card.
struct DispatchMeasurement {
  int compute_capability = 0;  // 90 for 9.0
  std::string device;          // "NVIDIA H200"
  std::string driver;
  std::string cublaslt_version;  // "13.1.1"
  std::vector<LinearGeluTimes> times;
  bool operator==(const DispatchMeasurement&) const = default;

  // As a row of a DispatchTable.
  ArchitectureRule rule() const;
};

// What is wrong with a file, and what to do about it.
struct DispatchFileError {
  std::string message;
};

std::string to_json(const DispatchMeasurement& measurement);
std::variant<DispatchMeasurement, DispatchFileError> dispatch_from_json(const std::string& text);

// Replaces the file as a whole, so that a reader never sees half of it.
std::variant<std::monostate, DispatchFileError> write_dispatch_file(const std::filesystem::path& path,
                                                                    const DispatchMeasurement& measurement);
std::variant<DispatchMeasurement, DispatchFileError> read_dispatch_file(const std::filesystem::path& path);

// The built-in table with the file's architecture as it was measured: what choose_linear_gelu_path() takes.
std::variant<DispatchTable, DispatchFileError> load_dispatch_table(const std::filesystem::path& path);

}  // namespace bitproof::kernels
