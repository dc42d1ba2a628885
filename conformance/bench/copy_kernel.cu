#include "conformance/bench/copy_kernel.h"
#include "kernels/cuda/device.h"
#include "kernels/launch_rule.h"
#include "kernels/vector.h"

namespace bitproof::conformance {

inline constexpr int kCopyVectorBytes = 16;
inline constexpr kernels::LaunchRule kCopyRule{.threads_x = 64, .threads_y = 4, .bytes_in_flight = 16};

__global__ void __launch_bounds__(kCopyRule.block_threads())
    copy_kernel(const std::uint16_t* input, std::uint16_t* output, std::int64_t rows, std::int64_t width) {
  using V = kernels::Vector<kCopyVectorBytes>;
  for (std::int64_t vector = std::int64_t{blockIdx.x} * kCopyRule.threads_x + threadIdx.x;
       vector < width / V::kElements; vector += std::int64_t{gridDim.x} * kCopyRule.threads_x)
    for (std::int64_t row = std::int64_t{blockIdx.y} * kCopyRule.threads_y + threadIdx.y; row < rows;
         row += std::int64_t{gridDim.y} * kCopyRule.threads_y) {
      const std::int64_t element = row * width + vector * V::kElements;
      kernels::store_streaming<kCopyVectorBytes>(output + element,
                                                 kernels::load_streaming<kCopyVectorBytes>(input + element));
    }
}

void launch_copy(const std::uint16_t* input, std::uint16_t* output, std::int64_t rows, std::int64_t width,
                 cudaStream_t stream) {
  const kernels::LaunchGeometry grid =
      kernels::launch_geometry(kCopyRule, kCopyVectorBytes, rows, width * 2 / kCopyVectorBytes);
  copy_kernel<<<dim3(grid.grid_x, grid.grid_y), dim3(grid.block_x, grid.block_y), 0, stream>>>(input, output,
                                                                                               rows, width);
  kernels::cuda::check(cudaGetLastError(), "launch of copy_kernel");
}

}  // namespace bitproof::conformance
