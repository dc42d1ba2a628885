// The CUDA devices of this machine.
#pragma once

#include <string>
#include <vector>

#include "conformance/report/report.h"

namespace bitproof::conformance {

struct CudaDevice {
  int id = 0;
  Device facts;  // name, architecture, driver, runtime, cuBLASLt

  std::string label() const { return "cuda:" + std::to_string(id); }
};

struct CudaDevices {
  std::vector<CudaDevice> devices;
  std::string none_because;  // "no CUDA device: ...", with the remedy, when there is none
};

CudaDevices find_cuda_devices();

}  // namespace bitproof::conformance
