// The subcommands. Each adds itself to the application; when it was parsed, its callback does the work and
// stores the exit status: 0 passed, 1 ran and failed, 2 bad usage or unreadable input, 3 could not run.
// `status` must outlive the parsing.
#pragma once

#include <CLI/CLI.hpp>

namespace bitproof::conformance {

void add_run_command(CLI::App& app, int& status);
void add_trace_command(CLI::App& app, int& status);
void add_bench_command(CLI::App& app, int& status);
void add_check_command(CLI::App& app, int& status);
void add_list_command(CLI::App& app, int& status);
void add_self_test_command(CLI::App& app, int& status);

}  // namespace bitproof::conformance
