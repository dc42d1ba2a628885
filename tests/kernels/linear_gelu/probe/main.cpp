// linear_gelu_gpu_probe: what cuBLASLt's epilogues make of every kind of accumulator on this card, with FP32
// outputs too, against what the reference predicts. What `bitproof run --op linear_gelu_tanh` rests on; it
// checks the rest.
//
// Exit status: 0 everything was predicted; 1 something was not; 3 no GPU, no cuBLASLt, or an error.
#include <cstdio>
#include <exception>

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "kernels/cuda/device.h"
#include "kernels/linear_gelu/cublaslt.h"
#include "tests/kernels/linear_gelu/probe/experiments.h"

int main() {
  using namespace bitproof;
  int devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&devices); error != cudaSuccess || devices == 0) {
    fmt::print(stderr, "not_run: no CUDA device ({})\n", cudaGetErrorString(error));
    return 3;
  }
  if (!kernels::cuda::cublaslt().library) {
    fmt::print(stderr, "not_run: {}\n", kernels::cuda::cublaslt().reason);
    return 3;
  }
  try {
    cudaDeviceProp properties{};
    kernels::cuda::check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
    fmt::print("{}, compute capability {}.{}, cuBLASLt {}\n\n", properties.name, properties.major,
               properties.minor, kernels::cuda::cublaslt().library->version_text);
    const bool predicted = probe::run_accumulators();
    fmt::print("{}\n", predicted ? "PREDICTED" : "NOT PREDICTED");
    return predicted ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "error: {}\n", error.what());
    return 3;
  }
}
