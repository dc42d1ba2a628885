// Records and reports for tests. The numbers come from a synthetic implementation that is wrong in some
// elements, so that a record of any set of blocks can be had directly, without adding records up.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "conformance/report/record.h"
#include "conformance/report/report.h"
#include "tests/support/temporary_directory.h"

namespace bitproof::conformance::testing {

// A domain of 64 blocks of 1,024 of the 65,536 values.
inline constexpr std::uint64_t kBlocks = 64;
inline constexpr std::uint64_t kBlockSize = 1024;

// Nothing tested yet.
Record planned_record(const std::string& op, const std::string& domain = "values");

// The record after these blocks. `every` is how many elements apart the synthetic implementation's errors are;
// 0 is none.
Record tested_record(Record planned, std::span<const BlockRange> blocks, std::uint64_t every);

// With the whole domain tested and nothing wrong: bit_exact.
Record perfect_record(const std::string& op, const std::string& domain = "values");

Environment sample_environment();

// A plan of `records` records, each of another operator.
Report sample_plan(std::size_t records);

using support::TemporaryDirectory;

std::string read_text(const std::filesystem::path& file);
void write_text(const std::filesystem::path& file, const std::string& text);

}  // namespace bitproof::conformance::testing
