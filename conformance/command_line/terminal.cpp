#include "conformance/command_line/terminal.h"

#include <chrono>
#include <cstdlib>

#include <fmt/format.h>
#include <unistd.h>

namespace bitproof::conformance {
namespace {

bool is_terminal(std::FILE* stream) { return isatty(fileno(stream)) == 1; }

bool wants_colour(std::FILE* stream) {
  const char* const no_colour = std::getenv("NO_COLOR");
  return is_terminal(stream) && (no_colour == nullptr || *no_colour == '\0');
}

std::int64_t milliseconds_now() {
  return std::chrono::duration_cast<std::chrono::milliseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

}  // namespace

std::string coloured(std::string_view text, Ink colour, std::FILE* stream) {
  if (colour == Ink::none || !wants_colour(stream)) return std::string(text);
  const int code = colour == Ink::green ? 32 : colour == Ink::red ? 31 : 33;
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

ProgressBar::ProgressBar() : enabled_(is_terminal(stderr)) {}

ProgressBar::~ProgressBar() { clear(); }

void ProgressBar::show(std::string_view what, std::uint64_t done, std::uint64_t total) {
  if (!enabled_ || total < 2) return;
  const std::int64_t now = milliseconds_now();
  if (drawn_ && now - last_drawn_ < 100) return;
  constexpr std::uint64_t kWidth = 30;
  const std::uint64_t filled = done * kWidth / total;
  fmt::print(stderr, "\r\x1b[K[{:#<{}}{:.<{}}] {:3}% {}", "", filled, "", kWidth - filled, done * 100 / total,
             what);
  std::fflush(stderr);
  drawn_ = true;
  last_drawn_ = now;
}

void ProgressBar::clear() {
  if (!drawn_) return;
  fmt::print(stderr, "\r\x1b[K");
  std::fflush(stderr);
  drawn_ = false;
}

}  // namespace bitproof::conformance
