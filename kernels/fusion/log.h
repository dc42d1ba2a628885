// Where fusion decisions are told to.
#pragma once

#include <functional>
#include <string>

namespace bitproof::kernels {

// Takes one line. May be called from several threads, never from two at once by one object.
using Log = std::function<void(const std::string& line)>;

void log_to_standard_error(const std::string& line);

}  // namespace bitproof::kernels
