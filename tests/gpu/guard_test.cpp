// The predicates on the card: refusals raise, and touch nothing.
#include <vector>

#include <gtest/gtest.h>

#include "kernels/gelu_tanh.h"
#include "tests/gpu/device_tensors.h"

namespace bitproof::gpu_tests {
namespace {

using reference::Dtype;

const std::vector<std::uint16_t> kUntouched(5 * 16, conformance::kPoison);

TEST(DeviceGuard, AHostTensorIsRefused) {
  DeviceTensor input(5, 16, Dtype::bf16), output(5, 16, Dtype::bf16);
  input.tensor.device = {kDLCPU, 0};
  EXPECT_EQ(kernels::cuda::can_use_gelu_tanh(input.tensor, output.tensor).reason,
            "input is not on a CUDA device");
}

TEST(DeviceGuard, AMisalignedInputIsRefusedAndNothingIsTouched) {
  DeviceTensor input(5, 16, Dtype::bf16), output(5, 16, Dtype::bf16);
  input.tensor.byte_offset = 2;
  EXPECT_THROW(kernels::cuda::gelu_tanh(input.tensor, output.tensor, nullptr), kernels::Refused);
  EXPECT_EQ(output.read(), kUntouched);
}

TEST(DeviceGuard, ABiasOfAnotherDtypeIsRefusedAndNothingIsTouched) {
  DeviceTensor input(5, 16, Dtype::bf16), bias(0, 16, Dtype::fp16), output(5, 16, Dtype::bf16);
  EXPECT_THROW(kernels::cuda::bias_gelu_tanh(input.tensor, bias.tensor, output.tensor, nullptr),
               kernels::Refused);
  EXPECT_EQ(output.read(), kUntouched);
}

TEST(DeviceGuard, TheCurrentDeviceIsRestored) {
  DeviceTensor input(5, 16, Dtype::bf16), output(5, 16, Dtype::bf16);
  input.write(std::vector<std::uint16_t>(5 * 16, 0x3F80));
  kernels::cuda::gelu_tanh(input.tensor, output.tensor, nullptr);
  int current = -1;
  ASSERT_EQ(cudaGetDevice(&current), cudaSuccess);
  EXPECT_EQ(current, 0);
  EXPECT_EQ(output.read(), std::vector<std::uint16_t>(5 * 16, 0x3F57));
}

}  // namespace
}  // namespace bitproof::gpu_tests
