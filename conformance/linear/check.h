// A check of linear + GELU: a launcher against a contract over a domain, on the CPU and on a GPU alike.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "conformance/check.h"
#include "conformance/linear/domains.h"
#include "conformance/linear/launcher.h"
#include "conformance/linear/prediction.h"

namespace bitproof::conformance {

// Everything that says which check this is.
struct LinearSubject {
  LinearDomain domain;
  Location location;
  LinearContract contract;
  Record identity;  // with device, architecture, key and library version filled in
  // The command that runs one block again; empty: that of `bitproof run`.
  std::function<std::string(std::uint64_t block)> reproduce{};
  // Whether the record says, as its algorithms, which model the bits of each launch are those of: for calls
  // that do not say themselves what they ran.
  bool infers_model = false;
};

template <reference::Half T>
std::unique_ptr<Check> make_linear_check(const LinearSubject& subject,
                                         std::unique_ptr<LinearLauncher<T>> launcher);

}  // namespace bitproof::conformance
