// The yardstick: a device kernel that only copies, with the production kernel's accesses and the launch that
// was the fastest of 30 measured on an H200.
#pragma once

#include <cstdint>

#include <cuda_runtime_api.h>

namespace bitproof::conformance {

// Copies rows x width 16-bit elements; width a multiple of 8, addresses aligned to 16 bytes.
void launch_copy(const std::uint16_t* input, std::uint16_t* output, std::int64_t rows, std::int64_t width,
                 cudaStream_t stream);

}  // namespace bitproof::conformance
