#include "kernels/cuda/device.h"

#include <map>
#include <mutex>

#include "kernels/tensor.h"

namespace bitproof::kernels::cuda {
namespace {

struct DeviceFacts {
  ArchitectureTraits traits;
  int multiprocessors = 0;
};

int attribute(cudaDeviceAttr which, int device_id) {
  int value = 0;
  check(cudaDeviceGetAttribute(&value, which, device_id), "cudaDeviceGetAttribute");
  return value;
}

DeviceFacts facts_of(int device_id) {
  static std::mutex mutex;
  static std::map<int, DeviceFacts> known;
  const std::lock_guard lock(mutex);
  const auto found = known.find(device_id);
  if (found != known.end()) return found->second;
  const int capability = 10 * attribute(cudaDevAttrComputeCapabilityMajor, device_id) +
                         attribute(cudaDevAttrComputeCapabilityMinor, device_id);
  const DeviceFacts facts{traits_for(capability), attribute(cudaDevAttrMultiProcessorCount, device_id)};
  return known.emplace(device_id, facts).first->second;
}

}  // namespace

ArchitectureTraits traits_of_device(int device_id) { return facts_of(device_id).traits; }

int multiprocessors_of_device(int device_id) { return facts_of(device_id).multiprocessors; }

Applicability can_use_on_device(const DLTensor& input, const DLTensor* bias, const DLTensor& output,
                                int vector_bytes) {
  if (input.device.device_type != kDLCUDA) return {"input is not on a CUDA device"};
  return can_use_rowwise(input, bias, output, vector_bytes);
}

DeviceScope::DeviceScope(int device_id) {
  check(cudaGetDevice(&previous_), "cudaGetDevice");
  if (previous_ != device_id) check(cudaSetDevice(device_id), "cudaSetDevice");
}

DeviceScope::~DeviceScope() {
  // Restoring the caller's device cannot fail unless the context is lost, which the next call will report.
  (void)cudaSetDevice(previous_);
}

}  // namespace bitproof::kernels::cuda
