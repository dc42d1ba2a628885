#include "kernels/architecture.h"

namespace bitproof::kernels {

std::optional<ArchitectureTraits> find_architecture(std::string_view name) {
  for (const ArchitectureTraits& traits : kArchitectures)
    if (traits.name == name) return traits;
  return std::nullopt;
}

}  // namespace bitproof::kernels
