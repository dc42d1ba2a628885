// The machine-code keys of this build: which code would run for an implementation on an architecture. A key
// changes when that code, its compiler or its launch rule changes, and not for a comment or another folder.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitproof::conformance {

struct MachineCodeKey {
  std::string_view implementation;  // "cuda.fused"
  std::string_view architecture;    // "sm_90", "x86_64"
  std::string_view key;             // SHA-256, hexadecimal
};

// Computed by the build (conformance/machine_code/key_tool.cpp).
const std::vector<MachineCodeKey>& machine_code_keys();

// Empty for an implementation without machine code of its own (the reference); nothing where this build has
// none. "emulated.fused" has the machine code of "cuda.fused".
std::optional<std::string> machine_code_key(std::string_view implementation, std::string_view architecture);

// One key for everything that was compiled for an architecture: SHA-256 over its implementations' keys.
std::string architecture_key(std::string_view architecture);

}  // namespace bitproof::conformance
