// The command line of `bitproof frames`.
#pragma once

#include <optional>
#include <string>
#include <variant>

#include "metrics/compare/comparison.h"

namespace bitproof::metrics {

struct Command {
  Request request;
  bool json = false;                     // on standard output, instead of the table
  std::optional<std::string> csv, html;  // files to write
};

// Nothing to compare: print the text and end with the status (help, or a usage error).
struct EarlyExit {
  int status;
  std::string output, error;
};

std::variant<Command, EarlyExit> parse_command_line(int argc, const char* const* argv);

}  // namespace bitproof::metrics
