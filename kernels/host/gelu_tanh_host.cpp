// The production kernel with blocks and threads as loops: implementation `host.fused`.
#include <cstdint>

#include "kernels/gelu_tanh.h"
#include "kernels/gelu_tanh_body.h"
#include "kernels/launch_rule.h"
#include "kernels/tensor.h"

namespace bitproof::kernels::host {
namespace {

// Where one thread of the grid stands; the device's counterpart is in kernels/cuda/fused.cu.
template <int kVectorBytes>
struct HostThread {
  const LaunchGeometry& grid;
  std::uint32_t block_x, block_y, thread_x, thread_y;

  std::int64_t vector() const { return std::int64_t{block_x} * grid.block_x + thread_x; }
  std::int64_t row_stride() const { return grid.block_y; }
  std::int64_t first_row() const { return std::int64_t{block_y} * rows_per_block() + thread_y; }
  std::int64_t tile_stride() const { return std::int64_t{grid.grid_y} * rows_per_block(); }
  void wait_for_producer() const {}
  void release_consumer() const {}

 private:
  std::int64_t rows_per_block() const {
    return std::int64_t{grid.block_y} * kFusedRule.rows_per_thread(kVectorBytes);
  }
};

template <HalfType kType, bool kBias, int kVectorBytes>
void run_grid(const RowwiseArguments& arguments) {
  const LaunchGeometry grid = launch_geometry(kFusedRule, kVectorBytes, arguments.rows,
                                              arguments.width / Vector<kVectorBytes>::kElements);
  for (std::uint32_t block_y = 0; block_y < grid.grid_y; ++block_y)
    for (std::uint32_t block_x = 0; block_x < grid.grid_x; ++block_x)
      for (std::uint32_t thread_y = 0; thread_y < grid.block_y; ++thread_y)
        for (std::uint32_t thread_x = 0; thread_x < grid.block_x; ++thread_x)
          gelu_tanh_body<kType, kBias, kVectorBytes, kFusedRule.rows_per_thread(kVectorBytes)>(
              HostThread<kVectorBytes>{grid, block_x, block_y, thread_x, thread_y}, arguments);
}

template <HalfType kType, bool kBias>
void run_vector(int vector_bytes, const RowwiseArguments& arguments) {
  if (vector_bytes == 16) return run_grid<kType, kBias, 16>(arguments);
  return run_grid<kType, kBias, 32>(arguments);
}

template <bool kBias>
void run(HalfType type, int vector_bytes, const RowwiseArguments& arguments) {
  if (type == HalfType::bf16) return run_vector<HalfType::bf16, kBias>(vector_bytes, arguments);
  return run_vector<HalfType::fp16, kBias>(vector_bytes, arguments);
}

Applicability check(const DLTensor& input, const DLTensor* bias, const DLTensor& output, int vector_bytes) {
  if (vector_bytes != 16 && vector_bytes != 32)
    return {"vectors of " + std::to_string(vector_bytes) + " bytes do not exist; 16 or 32"};
  if (input.device.device_type != kDLCPU) return {"input is not on the CPU"};
  return can_use_rowwise(input, bias, output, vector_bytes);
}

}  // namespace

Applicability can_use_gelu_tanh(const DLTensor& input, const DLTensor& output, int vector_bytes) {
  return check(input, nullptr, output, vector_bytes);
}

Applicability can_use_bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output,
                                     int vector_bytes) {
  return check(input, &bias, output, vector_bytes);
}

void gelu_tanh(const DLTensor& input, const DLTensor& output, int vector_bytes) {
  require(can_use_gelu_tanh(input, output, vector_bytes));
  run<false>(*half_type(input), vector_bytes, rowwise_arguments(input, nullptr, output));
}

void bias_gelu_tanh(const DLTensor& input, const DLTensor& bias, const DLTensor& output, int vector_bytes) {
  require(can_use_bias_gelu_tanh(input, bias, output, vector_bytes));
  run<true>(*half_type(input), vector_bytes, rowwise_arguments(input, &bias, output));
}

}  // namespace bitproof::kernels::host
