#include "conformance/c_api/error.h"

#include <utility>

namespace bitproof::conformance::c_api {
namespace {

std::string& message() noexcept {
  thread_local std::string text;
  return text;
}

}  // namespace

bitproof_status fail(bitproof_status status, std::string text) noexcept {
  message() = std::move(text);
  return status;
}

}  // namespace bitproof::conformance::c_api

const char* bitproof_error_message(void) { return bitproof::conformance::c_api::message().c_str(); }
