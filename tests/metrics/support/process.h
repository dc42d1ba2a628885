// Runs a program and keeps what it said.
#pragma once

#include <string>
#include <vector>

namespace bitproof::metrics::test {

struct Finished {
  int status;  // exit status; 128 + signal when it was killed
  std::string output, error;
};

// The first argument is the program, looked for in PATH.
Finished run(const std::vector<std::string>& arguments);

// Runs FFmpeg quietly and throws with its message when it fails.
std::string ffmpeg(std::vector<std::string> arguments);

// `bitproof frames` itself.
Finished frames(std::vector<std::string> arguments);

}  // namespace bitproof::metrics::test
