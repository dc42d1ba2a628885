// Errors of the CUDA runtime, and what the launchers need to know of a device.
#pragma once

#include <stdexcept>
#include <string>

#include <cuda_runtime_api.h>

#include "kernels/architecture.h"
#include "kernels/elementwise_guard.h"
#include "kernels/gelu_tanh_body.h"

namespace bitproof::kernels::cuda {

// A call of the runtime failed. what() names the call and the runtime's reason.
class CudaError : public std::runtime_error {
 public:
  CudaError(cudaError_t code, const std::string& call)
      : std::runtime_error(call + ": " + cudaGetErrorString(code)), code_(code) {}
  cudaError_t code() const { return code_; }

 private:
  cudaError_t code_;
};

inline void check(cudaError_t code, const char* call) {
  if (code != cudaSuccess) throw CudaError(code, call);
}

// What the code that runs on device `device_id` does: the row of kArchitectures it was compiled from. Asked of
// the runtime once per device.
ArchitectureTraits traits_of_device(int device_id);

int multiprocessors_of_device(int device_id);

// As can_use_rowwise, for tensors on a CUDA device.
Applicability can_use_on_device(const DLTensor& input, const DLTensor* bias, const DLTensor& output,
                                int vector_bytes);

// Makes the tensor's device current for the life of the object.
class DeviceScope {
 public:
  explicit DeviceScope(int device_id);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;
  DeviceScope& operator=(const DeviceScope&) = delete;

 private:
  int previous_ = 0;
};

}  // namespace bitproof::kernels::cuda
