// The subcommands `gate`, `merge` and `show` of the command line.
#pragma once

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>

#include "conformance/gate/gate.h"

namespace CLI {
class App;
}

namespace bitproof::conformance {

struct GateServices {
  Tree tree;
  std::filesystem::path expectations;  // default of --expectations: the project's known mismatches
  std::function<std::chrono::sys_seconds()> now = [] {
    return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  };
  std::FILE* out = stdout;
  std::FILE* err = stderr;
};

// Each adds a subcommand to `app`. When the subcommand was parsed, its callback does the work and stores the
// exit status in `status`, which must outlive the parsing: 0 passed, 1 failed, 2 bad usage or unreadable input,
// 3 could not run. `services` must outlive the parsing too.
CLI::App* add_gate_command(CLI::App& app, const GateServices& services, int& status);
CLI::App* add_merge_command(CLI::App& app, const GateServices& services, int& status);
CLI::App* add_show_command(CLI::App& app, const GateServices& services, int& status);

}  // namespace bitproof::conformance
