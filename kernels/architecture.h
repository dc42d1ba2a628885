// The architectures we compile for, and what the kernels do differently on each. This is the only such table.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace bitproof::kernels {

struct ArchitectureTraits {
  int compute_capability;              // 90 for 9.0
  std::string_view name;               // "sm_90"
  int vector_bytes;                    // widest global load and store of one thread
  bool programmatic_dependent_launch;  // griddepcontrol exists from 9.0 on (PTX ISA, "griddepcontrol")
};

// 256-bit global accesses exist from sm_100 on (PTX ISA 8.8, "ld": .v8.b32).
inline constexpr std::array kArchitectures{
    ArchitectureTraits{80, "sm_80", 16, false},  ArchitectureTraits{86, "sm_86", 16, false},
    ArchitectureTraits{89, "sm_89", 16, false},  ArchitectureTraits{90, "sm_90", 16, true},
    ArchitectureTraits{100, "sm_100", 32, true}, ArchitectureTraits{103, "sm_103", 32, true},
    ArchitectureTraits{120, "sm_120", 32, true},
};

// What code compiled for `compute_capability` does. A capability between two rows behaves as the lower one, the
// way device code selects by __CUDA_ARCH__.
constexpr ArchitectureTraits traits_for(int compute_capability) {
  ArchitectureTraits found = kArchitectures.front();
  for (const ArchitectureTraits& traits : kArchitectures)
    if (traits.compute_capability <= compute_capability) found = traits;
  return found;
}

// The row of that name, if there is one.
std::optional<ArchitectureTraits> find_architecture(std::string_view name);

}  // namespace bitproof::kernels
