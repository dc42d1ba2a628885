// A value, or why there is none: how errors leave the readers and metrics.
#pragma once

#include <string>
#include <utility>
#include <variant>

namespace bitproof::metrics {

// What went wrong, by what the caller can do about it; exit_status() says how the command ends.
enum class FailureKind {
  usage,       // the request makes no sense
  unreadable,  // an input cannot be opened or holds no frame at all
  decode,      // an input breaks off or is damaged after its first frame
  mismatch,    // the inputs are of different formats
  length,      // the inputs have different numbers of frames
  not_finite,  // floating-point samples are NaN or infinite
  threshold,   // compared, and further apart than allowed
};

struct Failure {
  FailureKind kind;
  std::string message;  // what, where, and what to do
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}
  Result(Failure failure) : state_(std::move(failure)) {}

  explicit operator bool() const { return std::holds_alternative<T>(state_); }
  T& operator*() { return std::get<T>(state_); }
  const T& operator*() const { return std::get<T>(state_); }
  T* operator->() { return &std::get<T>(state_); }
  const T* operator->() const { return &std::get<T>(state_); }
  const Failure& failure() const { return std::get<Failure>(state_); }

 private:
  std::variant<T, Failure> state_;
};

}  // namespace bitproof::metrics
