// The kernels of an MLP that are neither GEMM nor GELU.
#include <algorithm>
#include <cstdint>

#include <cuda_runtime.h>

#include "kernels/cuda/device.h"
#include "kernels/half_pair.h"
#include "kernels/mlp/mlp_kernels.h"
#include "kernels/nvfp4/nvfp4_body.h"
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

// --- NVFP4: the rule of nvfp4_body.h, a thread a block of 16 ------------------------------------------------

inline constexpr int kBlockThreads = 256;

// Bits of a non-negative 16-bit number ascend with it, so an integer maximum will do.
template <HalfType kType>
__global__ void __launch_bounds__(kBlockThreads)
    largest_magnitude(const std::uint16_t* input, std::int64_t blocks, std::uint32_t* largest) {
  std::uint32_t mine = 0;
  for (std::int64_t i = std::int64_t{blockIdx.x} * kBlockThreads + threadIdx.x; i < blocks;
       i += std::int64_t{gridDim.x} * kBlockThreads)
    for (int half = 0; half < 2; ++half) {
      const Vector<16> v = load_cached<16>(input + i * kNvfp4Block + half * 8);
      for (const std::uint32_t word : v.words)
        mine = max(mine, max(nvfp4::counted_magnitude<kType>(word & 0xFFFFu),
                             nvfp4::counted_magnitude<kType>(word >> 16)));
    }
  const std::uint32_t of_warp = __reduce_max_sync(0xFFFFFFFFu, mine);
  if (threadIdx.x % 32 == 0 && of_warp > 0) atomicMax(largest, of_warp);
}

template <HalfType kType>
__global__ void __launch_bounds__(kBlockThreads)
    quantise_blocks(const std::uint16_t* input, const __grid_constant__ Nvfp4Matrix matrix,
                    const std::uint32_t* largest) {
  const float tensor_scale = nvfp4::tensor_scale_of<kType>(*largest);
  const std::int64_t per_row = matrix.depth / kNvfp4Block;
  const std::int64_t i = std::int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i == 0) *matrix.tensor_scale = tensor_scale;
  if (i >= matrix.rows * per_row) return;
  std::uint32_t words[8];
  for (int half = 0; half < 2; ++half) {
    const Vector<16> v = load_cached<16>(input + i * kNvfp4Block + half * 8);
    for (int word = 0; word < 4; ++word) words[half * 4 + word] = v.words[word];
  }
  const nvfp4::Block block = nvfp4::quantise_block<kType>(words, tensor_scale);
  reinterpret_cast<uint2*>(matrix.values)[i] = make_uint2(block.values[0], block.values[1]);
  matrix.scales[scale_offset(matrix.layout, i / per_row, i % per_row, per_row)] =
      static_cast<std::uint8_t>(block.scale);
}

template <HalfType kType>
__global__ void __launch_bounds__(kBlockThreads)
    dequantise_blocks(const __grid_constant__ Nvfp4Matrix matrix, std::uint16_t* output) {
  const std::int64_t per_row = matrix.depth / kNvfp4Block;
  const std::int64_t i = std::int64_t{blockIdx.x} * kBlockThreads + threadIdx.x;
  if (i >= matrix.rows * per_row) return;
  const uint2 values = reinterpret_cast<const uint2*>(matrix.values)[i];
  const nvfp4::Block block{{values.x, values.y},
                           matrix.scales[scale_offset(matrix.layout, i / per_row, i % per_row, per_row)]};
  for (int half = 0; half < 2; ++half) {
    Vector<16> v;
    for (int word = 0; word < 4; ++word) v.words[word] = nvfp4::dequantise_pair<kType>(block, half * 4 + word);
    *reinterpret_cast<Vector<16>*>(output + i * kNvfp4Block + half * 8) = v;
  }
}

__global__ void multiply_scales_kernel(const float* a, const float* b, float* product_and_zero) {
  product_and_zero[0] = multiply(*a, *b);
  product_and_zero[1] = 0.0f;
}

namespace {

unsigned thread_blocks(std::int64_t items) {
  return static_cast<unsigned>((items + kBlockThreads - 1) / kBlockThreads);
}

template <HalfType kType>
void quantise(const Matrix& input, const Nvfp4Matrix& matrix, std::uint32_t* largest, cudaStream_t stream) {
  constexpr std::int64_t kMostReducers = 4096;
  const std::int64_t blocks = matrix.rows * matrix.blocks_per_row();
  check(cudaMemsetAsync(largest, 0, sizeof *largest, stream), "cudaMemsetAsync");
  largest_magnitude<kType>
      <<<std::min(thread_blocks(blocks), unsigned{kMostReducers}), kBlockThreads, 0, stream>>>(input.data(),
                                                                                               blocks, largest);
  check(cudaGetLastError(), "launch of largest_magnitude");
  quantise_blocks<kType><<<thread_blocks(blocks), kBlockThreads, 0, stream>>>(input.data(), matrix, largest);
  check(cudaGetLastError(), "launch of quantise_blocks");
}

}  // namespace

void quantise_nvfp4(const Matrix& input, const Nvfp4Matrix& matrix, std::uint32_t* largest,
                    cudaStream_t stream) {
  if (input.dtype() == HalfType::bf16) return quantise<HalfType::bf16>(input, matrix, largest, stream);
  return quantise<HalfType::fp16>(input, matrix, largest, stream);
}

void dequantise_nvfp4(const Nvfp4Matrix& matrix, const Matrix& output, cudaStream_t stream) {
  const unsigned blocks = thread_blocks(matrix.rows * matrix.blocks_per_row());
  if (output.dtype() == HalfType::bf16) {
    dequantise_blocks<HalfType::bf16><<<blocks, kBlockThreads, 0, stream>>>(matrix, output.data());
  } else {
    dequantise_blocks<HalfType::fp16><<<blocks, kBlockThreads, 0, stream>>>(matrix, output.data());
  }
  check(cudaGetLastError(), "launch of dequantise_blocks");
}

void multiply_scales(const float* a, const float* b, float* product_and_zero, cudaStream_t stream) {
  multiply_scales_kernel<<<1, 1, 0, stream>>>(a, b, product_and_zero);
  check(cudaGetLastError(), "launch of multiply_scales_kernel");
}

}  // namespace bitproof::kernels::cuda
