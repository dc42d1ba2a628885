// Implementations that do not return: what worker processes are for. `./bitproof run --impl 'planted.*'` shows
// what becomes of each.
#pragma once

#include <vector>

#include "conformance/elementwise/implementation.h"

namespace bitproof::conformance {

// planted.crash, planted.abort, planted.exit, planted.hang, planted.out_of_memory
std::vector<ElementwiseImplementation> planted_host_implementations();

// planted.illegal_access, planted.trap, planted.hang, planted.out_of_memory; none in a build without CUDA.
std::vector<ElementwiseImplementation> planted_device_implementations();

}  // namespace bitproof::conformance
