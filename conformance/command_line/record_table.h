// Records as people read them.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

#include "conformance/gate/expectations.h"
#include "conformance/report/report.h"

namespace bitproof::conformance {

void print_table_header();
// A row of the table; none for a record that nothing here can run: print_findings() counts those. A record
// under another profile than `profile`, the run's, says so.
void print_table_row(const Record& record, std::string_view profile);

// What is wrong, record by record: the first counterexample with its bits, place and reproducing command; the
// reasons of what could not run, each once.
void print_findings(const std::vector<Record>& records);

// Of somebody else's linear layers: what sums and what GELU their bits are those of, by shape.
void print_models(const std::vector<Record>& records);

// Records that differ from what is known of them, or no longer differ.
void print_contradictions(const std::vector<Record>& records, const std::vector<Expectation>& expectations);

// The last lines: how much was proved, and where the report is.
void print_summary(const Report& report, const std::filesystem::path& path);

}  // namespace bitproof::conformance
