// How C++ errors leave through the C interface: a status and, per thread, the message.
#pragma once

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

#include "conformance/bitproof.h"
#include "kernels/elementwise_guard.h"

namespace bitproof::conformance::c_api {

// Remembers the message for bitproof_error_message() and returns the status.
bitproof_status fail(bitproof_status status, std::string message) noexcept;

// Runs `body`, which returns a status or throws.
template <class Body>
bitproof_status guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (const kernels::Refused& refusal) {
    return fail(BITPROOF_REFUSED, refusal.what());
  } catch (const std::logic_error& misuse) {
    return fail(BITPROOF_BAD_ARGUMENT, misuse.what());
  } catch (const std::exception& failure) {
    return fail(BITPROOF_COULD_NOT_RUN, failure.what());
  } catch (...) {
    return fail(BITPROOF_COULD_NOT_RUN, "an exception of an unknown type");
  }
}

}  // namespace bitproof::conformance::c_api
