#include "conformance/command_line/complain.h"

#include <cstdio>

#include <fmt/format.h>

#include "conformance/command_line/exit_status.h"

namespace bitproof::conformance {

int complain(std::string_view message) {
  fmt::print(stderr, "bitproof: {}\n", message);
  return kBadUsage;
}

int complain(const Error& error) { return complain(error.message()); }

}  // namespace bitproof::conformance
