// The executable behind `./bitproof`, for everything but `frames`.
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/core.h>

#include "conformance/command_line/commands.h"
#include "conformance/command_line/gate_services.h"

int main(int argc, char** argv) {
  constexpr int kBadUsage = 2, kCouldNotRun = 3;
  CLI::App app{
      "Proves that fused half-precision GPU kernels return exactly the bits of the unfused computation.",
      "bitproof"};
  app.require_subcommand(1);
  int status = 0;
  const bitproof::conformance::GateServices services = bitproof::conformance::gate_services();
  bitproof::conformance::add_run_command(app, status);
  bitproof::conformance::add_trace_command(app, status);
  bitproof::conformance::add_bench_command(app, status);
  bitproof::conformance::add_check_command(app, status);
  bitproof::conformance::add_gate_command(app, services, status);
  bitproof::conformance::add_merge_command(app, services, status);
  bitproof::conformance::add_show_command(app, services, status);
  bitproof::conformance::add_self_test_command(app, status);
  bitproof::conformance::add_list_command(app, status);
  try {
    app.parse(argc, argv);
  } catch (const CLI::RequiredError& error) {
    const std::string what = argc > 1 ? std::string(argv[1]) + " is no command" : "a command is needed";
    if (app.get_subcommands().empty()) {
      fmt::print(stderr, "bitproof: {}; see `./bitproof --help`\n", what);
      return kBadUsage;
    }
    fmt::print(stderr, "bitproof: {}; see `./bitproof {} --help`\n", error.what(),
               app.get_subcommands().front()->get_name());
    return kBadUsage;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help
    fmt::print(stderr, "bitproof: {}; see `./bitproof {}--help`\n", error.what(),
               app.get_subcommands().empty() ? "" : app.get_subcommands().front()->get_name() + " ");
    return kBadUsage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "bitproof: {}\n", error.what());
    return kCouldNotRun;
  }
  return status;
}
