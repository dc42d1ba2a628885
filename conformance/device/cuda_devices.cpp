#include "conformance/device/cuda_devices.h"

#include <fstream>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "conformance/linear/device.h"

namespace bitproof::conformance {
namespace {

// The kernel module's version, as nvidia-smi prints it.
std::string driver_version() {
  std::ifstream stream("/sys/module/nvidia/version");
  std::string version;
  if (std::getline(stream, version)) return version;
  int cuda = 0;
  return cudaDriverGetVersion(&cuda) == cudaSuccess
             ? fmt::format("for CUDA {}.{}", cuda / 1000, cuda % 1000 / 10)
             : "unknown";
}

std::string runtime_version() {
  int version = 0;
  return cudaRuntimeGetVersion(&version) == cudaSuccess
             ? fmt::format("{}.{}", version / 1000, version % 1000 / 10)
             : "unknown";
}

}  // namespace

CudaDevices find_cuda_devices() {
  int count = 0;
  const cudaError_t asked = cudaGetDeviceCount(&count);
  if (asked != cudaSuccess || count == 0)
    return {{},
            fmt::format("no CUDA device: {}; run on a machine with a GPU and its driver",
                        asked == cudaSuccess ? "none found" : cudaGetErrorString(asked))};
  CudaDevices found;
  for (int id = 0; id < count; ++id) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, id) != cudaSuccess) continue;
    found.devices.push_back({id,
                             {.name = properties.name,
                              .architecture = fmt::format("sm_{}{}", properties.major, properties.minor),
                              .driver = driver_version(),
                              .cuda_runtime = runtime_version(),
                              .cublaslt = linear_library().version}});
  }
  return found;
}

}  // namespace bitproof::conformance
