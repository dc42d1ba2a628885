#include <cstdint>
#include <string_view>
#include <vector>

#include <cuda_runtime.h>

#include "conformance/mutants/planted.h"
#include "kernels/cuda/device.h"

namespace bitproof::conformance {

__global__ void write_nowhere_kernel() { *reinterpret_cast<volatile std::uint32_t*>(std::uintptr_t{64}) = 1; }

__global__ void trap_kernel() { asm volatile("trap;"); }

__global__ void endless_kernel(volatile std::uint16_t* element) {
  while (*element != 0x1234) continue;
}

namespace {

using kernels::cuda::check;

ElementwiseImplementation planted(std::string_view name, void (*fault)(std::uint16_t* output, cudaStream_t)) {
  return {.name = std::string(name),
          .location = Location::device,
          .vector_elements = 8,
          .can_use = [](const Tensors&) { return kernels::Applicability{}; },
          .run = [fault](const Tensors& t, CUstream_st* stream) { fault(kernels::data_of(t.output), stream); }};
}

// All that the card has, in pieces that it is out of at last.
void devour_memory(std::uint16_t*, cudaStream_t) {
  for (;;) {
    void* piece = nullptr;
    check(cudaMalloc(&piece, std::size_t{1} << 30), "cudaMalloc");
  }
}

}  // namespace

std::vector<ElementwiseImplementation> planted_device_implementations() {
  return {
      planted("planted.illegal_access",
              [](std::uint16_t*, cudaStream_t stream) { write_nowhere_kernel<<<1, 1, 0, stream>>>(); }),
      planted("planted.trap", [](std::uint16_t*, cudaStream_t stream) { trap_kernel<<<1, 1, 0, stream>>>(); }),
      planted("planted.hang",
              [](std::uint16_t* output, cudaStream_t stream) { endless_kernel<<<1, 1, 0, stream>>>(output); }),
      planted("planted.out_of_memory", devour_memory)};
}

}  // namespace bitproof::conformance
