// Colours and progress for people; nothing of it where the output is no terminal.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace bitproof::conformance {

enum class Ink { none, green, red, yellow };

// `text` in the colour, if `stream` is a terminal and NO_COLOR is not set (no-color.org).
std::string coloured(std::string_view text, Ink colour, std::FILE* stream);

// A bar on standard error that redraws itself, at most ten times a second; draws nothing unless that is a
// terminal.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::string_view what, std::uint64_t done, std::uint64_t total);
  void clear();

 private:
  bool enabled_;
  bool drawn_ = false;
  std::int64_t last_drawn_ = 0;  // milliseconds of the steady clock
};

}  // namespace bitproof::conformance
