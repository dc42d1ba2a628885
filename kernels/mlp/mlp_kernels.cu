#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/cuda/device.h"
#include "kernels/half_pair.h"
#include "kernels/mlp/mlp_kernels.h"
#include "kernels/vector.h"

namespace bitproof::kernels::cuda {

inline constexpr int kThreads = 128, kRowsPerThread = 4;

// The eager bias kernel, as fast as memory: a thread keeps the bias of eight columns for four rows.
template <HalfType kType>
__global__ void __launch_bounds__(kThreads)
    add_bias_kernel(std::uint16_t* matrix, const std::uint16_t* bias, std::int64_t rows, std::int64_t width) {
  using V = Vector<16>;
  const std::int64_t column = (std::int64_t{blockIdx.x} * kThreads + threadIdx.x) * V::kElements;
  if (column >= width) return;
  const V addend = load_cached<16>(bias + column);
  for (std::int64_t tile = std::int64_t{blockIdx.y} * kRowsPerThread; tile < rows;
       tile += std::int64_t{gridDim.y} * kRowsPerThread) {
    V x[kRowsPerThread];
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i)
      if (tile + i < rows) x[i] = load_streaming<16>(matrix + (tile + i) * width + column);
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      if (tile + i >= rows) break;
      for (int word = 0; word < V::kWords; ++word)
        x[i].words[word] = HalfPair<kType>::add(x[i].words[word], addend.words[word]);
      store_streaming<16>(matrix + (tile + i) * width + column, x[i]);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    first_difference_kernel(const std::uint16_t* a, const std::uint16_t* b, std::int64_t count,
                            unsigned long long* first) {
  for (std::int64_t i = std::int64_t{blockIdx.x} * kThreads + threadIdx.x; i < count;
       i += std::int64_t{gridDim.x} * kThreads)
    if (a[i] != b[i]) {
      atomicMin(first, static_cast<unsigned long long>(i));
      return;
    }
}

void add_bias(const Matrix& matrix, const std::uint16_t* bias, cudaStream_t stream) {
  constexpr std::int64_t kMaxGridY = 65535, kColumns = kThreads * std::int64_t{Vector<16>::kElements};
  const dim3 grid(
      static_cast<unsigned>((matrix.width() + kColumns - 1) / kColumns),
      static_cast<unsigned>(std::min((matrix.rows() + kRowsPerThread - 1) / kRowsPerThread, kMaxGridY)));
  if (matrix.dtype() == HalfType::bf16) {
    add_bias_kernel<HalfType::bf16>
        <<<grid, kThreads, 0, stream>>>(matrix.data(), bias, matrix.rows(), matrix.width());
  } else {
    add_bias_kernel<HalfType::fp16>
        <<<grid, kThreads, 0, stream>>>(matrix.data(), bias, matrix.rows(), matrix.width());
  }
  check(cudaGetLastError(), "launch of add_bias_kernel");
}

void find_first_difference(const std::uint16_t* a, const std::uint16_t* b, std::int64_t count,
                           unsigned long long* first, cudaStream_t stream) {
  constexpr std::int64_t kMostBlocks = 8192;
  const std::int64_t blocks = std::min((count + kThreads - 1) / kThreads, kMostBlocks);
  first_difference_kernel<<<static_cast<unsigned>(blocks), kThreads, 0, stream>>>(a, b, count, first);
  check(cudaGetLastError(), "launch of first_difference_kernel");
}

}  // namespace bitproof::kernels::cuda
