// A value or the reason why there is none: what went wrong, where, and what to do about it.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace bitproof::conformance {

enum class ErrorKind {
  unreadable,           // no such file, not a file, no permission
  malformed,            // not JSON, or JSON of another shape
  damaged,              // the content does not have the SHA-256 it states
  unsupported_version,  // another major schema version
  bad_argument,         // of a command line option or an environment variable
  occupied,             // the directory already holds a report, or another process is writing one
  unwritable,           // permission, full disk, not a directory
  foreign,              // a report of another plan, tool, seed or shard
  conflict,             // records that cannot be combined
};

struct Error {
  ErrorKind kind = ErrorKind::malformed;
  std::string what;    // "the content of this record does not have the SHA-256 it states"
  std::string where;   // "evidence/report.json, /records/12", "--shard 4/4"
  std::string remedy;  // "restore the file from the machine that wrote it, or run again"

  // One line: "where: what; remedy".
  std::string message() const { return where + ": " + what + "; " + remedy; }
};

// Stands in for std::expected<T, Error> of C++23.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Error error)
      : state_(std::in_place_index<1>, std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() & { return std::get<0>(state_); }
  const T& operator*() const& { return std::get<0>(state_); }
  T&& operator*() && { return std::get<0>(std::move(state_)); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

// Success, or an Error.
struct Done {};

}  // namespace bitproof::conformance
