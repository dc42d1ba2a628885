#include <algorithm>

#include "conformance/device/device_sum.h"
#include "conformance/digest.h"
#include "conformance/elementwise/arena_kernels.h"
#include "conformance/poison.h"
#include "kernels/cuda/device.h"

namespace bitproof::conformance {

inline constexpr int kArenaThreads = 256;

__device__ inline std::uint64_t grid_thread() {
  return std::uint64_t{blockIdx.x} * kArenaThreads + threadIdx.x;
}
__device__ inline std::uint64_t grid_threads() { return std::uint64_t{gridDim.x} * kArenaThreads; }

__global__ void poison_kernel(std::uint16_t* elements, std::uint64_t count) {
  for (std::uint64_t i = grid_thread(); i < count; i += grid_threads()) elements[i] = kPoison;
}

__global__ void poison_region_kernel(std::uint16_t* arena, Region region, std::uint64_t rows) {
  for (std::uint64_t i = grid_thread(); i < rows * region.width; i += grid_threads())
    arena[region.begin + i / region.width * region.stride + i % region.width] = kPoison;
}

__global__ void fill_input_kernel(std::uint16_t* arena, Region region, std::uint64_t rows,
                                  const __grid_constant__ InputSource source) {
  for (std::uint64_t row = blockIdx.y; row < rows; row += gridDim.y)
    for (std::uint64_t column = grid_thread(); column < region.width; column += grid_threads())
      arena[region.begin + row * region.stride + column] = source.input(row, column);
}

__device__ void write_bias(std::uint16_t* arena, const Region& region, const InputSource& source) {
  for (std::uint64_t column = grid_thread(); column < region.width; column += grid_threads())
    arena[region.begin + column] = source.bias(column);
}

__global__ void fill_bias_kernel(std::uint16_t* arena, Region region,
                                 const __grid_constant__ InputSource source) {
  write_bias(arena, region, source);
}

__device__ void spin(unsigned milliseconds) {
  std::uint64_t start, now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
  do {
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  } while (now - start < milliseconds * std::uint64_t{1000000});
}

inline constexpr unsigned kLateByMilliseconds = 20;

__global__ void fill_bias_late_kernel(std::uint16_t* arena, Region region,
                                      const __grid_constant__ InputSource source) {
#if __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
  spin(kLateByMilliseconds);
  write_bias(arena, region, source);
}

__global__ void delay_kernel(unsigned milliseconds) { spin(milliseconds); }

__global__ void digest_kernel(const std::uint16_t* arena, Region region, std::uint64_t rows,
                              std::uint64_t first_index, std::uint64_t seed, std::uint64_t* digest) {
  std::uint64_t sum = 0;
  for (std::uint64_t row = blockIdx.y; row < rows; row += gridDim.y)
    for (std::uint64_t column = grid_thread(); column < region.width; column += grid_threads())
      sum += digest_term(seed, first_index + row * region.width + column,
                         arena[region.begin + row * region.stride + column]);
  add_to(digest, sum);
}

__global__ void overwritten_kernel(const std::uint16_t* arena, const __grid_constant__ Placement placement,
                                   const __grid_constant__ InputSource source, bool output_may_change,
                                   OverwrittenOnDevice result) {
  const std::uint64_t end = placement.arena_elements;
  std::uint64_t found = 0, first = end;
  for (std::uint64_t i = grid_thread(); i < end; i += grid_threads()) {
    std::uint64_t row, column;
    if (output_may_change && placement.output.holds(i, row, column)) continue;
    if (arena[i] == bits_before_launch(placement, source, i)) continue;
    if (found++ == 0) first = i;
  }
  add_to(result.count, found);
  if (found > 0)
    atomicMax(reinterpret_cast<unsigned long long*>(result.first_from_end),
              static_cast<unsigned long long>(end - first));
}

namespace {

using kernels::cuda::check;

unsigned blocks_for(std::uint64_t elements) {
  constexpr std::uint64_t kMost = 132 * 64;
  return static_cast<unsigned>(
      std::clamp<std::uint64_t>((elements + kArenaThreads - 1) / kArenaThreads, 1, kMost));
}

// Columns along x, rows along y.
dim3 grid_for(const Region& region) {
  const std::uint64_t columns =
      std::clamp<std::uint64_t>((region.width + kArenaThreads - 1) / kArenaThreads, 1, 64);
  const std::uint64_t rows = std::clamp<std::uint64_t>(region.rows, 1, 4096);
  return dim3(static_cast<unsigned>(columns), static_cast<unsigned>(rows));
}

void check_launch(const char* kernel) { check(cudaGetLastError(), kernel); }

}  // namespace

void poison_arena(std::uint16_t* arena, std::uint64_t elements, cudaStream_t stream) {
  poison_kernel<<<blocks_for(elements), kArenaThreads, 0, stream>>>(arena, elements);
  check_launch("launch of poison_kernel");
}

void poison_output(std::uint16_t* arena, const Placement& placement, cudaStream_t stream) {
  if (placement.output_is_input) return;
  poison_region_kernel<<<blocks_for(placement.output.rows * placement.output.width), kArenaThreads, 0,
                         stream>>>(arena, placement.output, placement.output.rows);
  check_launch("launch of poison_region_kernel");
}

void fill_input(std::uint16_t* arena, const Placement& placement, const InputSource& source,
                cudaStream_t stream) {
  fill_input_kernel<<<grid_for(placement.input), kArenaThreads, 0, stream>>>(arena, placement.input,
                                                                             placement.input.rows, source);
  check_launch("launch of fill_input_kernel");
}

void fill_bias(std::uint16_t* arena, const Placement& placement, const InputSource& source,
               cudaStream_t stream) {
  if (placement.bias.rows == 0) return;
  fill_bias_kernel<<<blocks_for(placement.bias.width), kArenaThreads, 0, stream>>>(arena, placement.bias,
                                                                                   source);
  check_launch("launch of fill_bias_kernel");
}

void fill_bias_late(std::uint16_t* arena, const Placement& placement, const InputSource& source,
                    cudaStream_t stream) {
  // Few blocks: the kernel under test must find room beside them.
  fill_bias_late_kernel<<<4, kArenaThreads, 0, stream>>>(arena, placement.bias, source);
  check_launch("launch of fill_bias_late_kernel");
}

void delay(unsigned milliseconds, cudaStream_t stream) {
  delay_kernel<<<1, 1, 0, stream>>>(milliseconds);
  check_launch("launch of delay_kernel");
}

void add_output_digest(const std::uint16_t* arena, const Placement& placement, std::uint64_t first_index,
                       std::uint64_t seed, std::uint64_t* digest, cudaStream_t stream) {
  digest_kernel<<<grid_for(placement.output), kArenaThreads, 0, stream>>>(
      arena, placement.output, placement.output.rows, first_index, seed, digest);
  check_launch("launch of digest_kernel");
}

void add_overwritten(const std::uint16_t* arena, const Placement& placement, const InputSource& source,
                     bool output_may_change, OverwrittenOnDevice result, cudaStream_t stream) {
  overwritten_kernel<<<blocks_for(placement.arena_elements), kArenaThreads, 0, stream>>>(
      arena, placement, source, output_may_change, result);
  check_launch("launch of overwritten_kernel");
}

}  // namespace bitproof::conformance
