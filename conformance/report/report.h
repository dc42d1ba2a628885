// The report of a run: what was checked, on which machine, by which tool, and what was found. Stored as JSON
// (conformance/report.schema.json).
//
// Every record carries the SHA-256 of its other members as compact JSON, and the report that of its own other
// members together with the list of the records' hashes. So an edit is found, and found in a place; white space
// may change.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "conformance/report/record.h"
#include "conformance/report/result.h"
#include "conformance/report/shard.h"

namespace bitproof::conformance {

inline constexpr std::string_view kReportFile = "report.json";

struct SchemaVersion {
  int major = 1;
  int minor = 0;
  bool operator==(const SchemaVersion&) const = default;
};
// A reader understands every minor version of this major one: minor versions only add fields.
inline constexpr SchemaVersion kReportSchema{1, 1};

struct Device {
  std::string name;          // "NVIDIA H200"
  std::string architecture;  // "sm_90"
  std::string driver;        // "580.65.06"
  std::string cuda_runtime;  // "13.0"
  std::string cublaslt;      // "13.1.1"
  bool operator==(const Device&) const = default;
};

struct Environment {
  std::string tool_version;  // "0.1.0"
  std::string tool_build;    // identifies the executable; all shards of a run have the same
  std::string host;
  std::string os;         // "Debian GNU/Linux 12, Linux 6.1.0 x86_64"
  std::string cpu;        // "AMD EPYC 9654, 2 threads"
  std::string toolchain;  // "g++ 12.2.0, nvcc 13.0.88"
  std::vector<Device> devices;
  std::string started;  // UTC, "2026-03-01T12:00:00Z"
  bool operator==(const Environment&) const = default;
};

// One of the reports that a merged report came from.
struct Source {
  std::string run_id;
  Shard shard;
  Environment environment;
  std::uint64_t records = 0;
  double seconds = 0;          // of all its records together
  std::string content_sha256;  // of the report that was merged
  bool operator==(const Source&) const = default;
};

// Result of `bitproof selftest`: how many of the mutants (implementations wrong in one known way) were caught.
struct MutationScore {
  std::uint64_t killed = 0;
  std::uint64_t total = 0;
  std::uint64_t false_alarms = 0;  // correct implementations that were called wrong
  bool operator==(const MutationScore&) const = default;
};

// "47 of 48 mutants killed, 0 false alarms".
std::string in_words(const MutationScore& score);

struct Report {
  SchemaVersion schema = kReportSchema;
  Environment environment;
  std::string profile;  // that the run was asked for; a record states its own
  std::string run_id;   // the same for all shards of a run; see run_id_of()
  std::uint64_t seed = 0;
  Shard shard;
  std::vector<Source> sources;  // of a merged report; empty otherwise
  std::optional<MutationScore> mutation_score;
  std::vector<Record> records;
  bool operator==(const Report&) const = default;
};

// An identifier that processes which never met agree on: 16 hexadecimal digits of the SHA-256 of the tool's
// build, the seed, the number of shards, and operator, dtype, implementation, domain, profile and equality of
// each record.
std::string run_id_of(const Report& plan);

// With all hashes. 64-bit digests and seeds are "0x..." strings, since many JSON readers keep
// only 53 bits; NaN and infinities are "nan", "inf" and "-inf".
nlohmann::ordered_json to_json(const Record& record);
nlohmann::ordered_json to_json(const Report& report);
// As a file: one record a line, so that a report can be compared line by line and its damage seen.
std::string to_text(const Report& report);

// Writes a report so that `file` is either the old or the new one, whole.
Result<Done> store_report(const std::filesystem::path& file, const Report& report);

// A report as it was found.
struct StoredReport {
  Report report;
  std::string content_sha256;  // that it states, and has
  std::string name;            // the file, or what else errors and findings are to call it
};

// Reads a report from a file or from the directory that holds it. The errors name the file, the place as a JSON
// pointer (or line and column where it is no JSON), and the remedy.
Result<StoredReport> load_report(const std::filesystem::path& file_or_directory);
Result<Report> parse_report(const std::filesystem::path& file_or_directory);
// The same for text; `source` is what errors call it.
Result<StoredReport> load_report_text(std::string_view text, const std::string& source);
Result<Report> parse_report_text(std::string_view text, const std::string& source);

// The hash that a written report states for itself.
std::string content_sha256(const Report& report);

}  // namespace bitproof::conformance
