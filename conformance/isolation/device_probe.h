#pragma once

#include "conformance/device/cuda_devices.h"

namespace bitproof::conformance {

// find_cuda_devices() asked in a process of its own, so that this one can still fork workers that use CUDA, and
// a driver that crashes or hangs is a reason why there is no device.
CudaDevices probe_cuda_devices();

}  // namespace bitproof::conformance
