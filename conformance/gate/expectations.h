// Known mismatches: committed counts and digest of what is wrong and stays wrong, for example a vendor
// library's epilogue. JSON with comments (conformance/expectations.schema.json); the project's own are in
// fixtures/expectations/known_mismatches.json.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/report/record.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

struct Expectation {
  std::string op, dtype, implementation, domain, architecture;
  std::string profile;
  std::string library_version;  // empty where no library matters
  std::uint64_t seed = 0;
  KindCounts kinds;
  std::uint64_t max_ulp = 0;
  std::uint64_t digest = 0;  // of the outputs
  std::string reason;
  bool operator==(const Expectation&) const = default;
};

std::string label(const Expectation& expectation);

Result<std::vector<Expectation>> load_expectations(const std::filesystem::path& file);
Result<std::vector<Expectation>> parse_expectations(std::string_view text, const std::string& source);

// The expectation for this operator, dtype, implementation, domain, architecture, profile, library version and
// seed.
const Expectation* find_expectation(const std::vector<Expectation>& expectations, const Record& record);

enum class Agreement {
  met,       // the same counts, maximal distance and digest
  grew,      // more mismatches than expected
  shrank,    // fewer, but some
  vanished,  // none
  changed,   // as many, but others
};
Agreement compare(const Expectation& expectation, const Record& record);

// Whether a record is wrong in a way that is not exactly expected: a mismatch without an expectation, or a
// whole domain that has more, fewer, other or no mismatches. A part of a domain whose whole is expected to
// differ says nothing yet.
bool contradicts(const Record& record, const std::vector<Expectation>& expectations);

// What the runner writes: a completely tested `mismatch` that meets its expectation becomes known_mismatch.
Record with_expectation(Record record, const std::vector<Expectation>& expectations);

}  // namespace bitproof::conformance
