#include "conformance/device/copy_rows.h"

#include <cuda_runtime_api.h>

#include "kernels/cuda/device.h"
#include "kernels/tensor.h"

namespace bitproof::conformance {

void copy_rows(const DLTensor& from, const DLTensor& to, CUstream_st* stream) {
  if (from.device.device_type == kDLCPU) return copy_rows_on_host(from, to);
  const auto bytes = [](std::int64_t elements) {
    return static_cast<std::size_t>(elements) * sizeof(std::uint16_t);
  };
  kernels::cuda::check(
      cudaMemcpy2DAsync(kernels::data_of(to), bytes(kernels::row_stride(to)), kernels::data_of(from),
                        bytes(kernels::row_stride(from)), bytes(from.shape[1]),
                        static_cast<std::size_t>(from.shape[0]), cudaMemcpyDeviceToDevice, stream),
      "cudaMemcpy2DAsync");
}

}  // namespace bitproof::conformance
