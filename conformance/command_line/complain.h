// How a command ends that was not given what it needs.
#pragma once

#include <string_view>

#include "conformance/report/result.h"

namespace bitproof::conformance {

// Says on standard error what is wrong; kBadUsage, which the command returns.
int complain(std::string_view message);
int complain(const Error& error);

}  // namespace bitproof::conformance
