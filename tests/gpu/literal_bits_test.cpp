// Bits that PyTorch gives, through each implementation on the card.
#include <cstdint>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/implementation.h"
#include "kernels/gelu_tanh.h"
#include "tests/gpu/device_tensors.h"

namespace bitproof::gpu_tests {
namespace {

using reference::Dtype;

struct Literal {
  std::uint16_t x, bias, right;
};

// Ties of the sum, its overflow at the rounding point, infinities, NaNs, the quantised tail, subnormals, zeros.
const std::vector<Literal> kBf16{
    {0x3F80, 0x3B80, 0x3F57}, {0x3F81, 0x3B80, 0x3F5C}, {0xFF7F, 0xFB00, 0x7FFF}, {0xFF7F, 0xFAFF, 0x8000},
    {0xC09C, 0x8000, 0xB51C}, {0xC0A0, 0x8000, 0xB4A0}, {0xC0A6, 0x8000, 0x8000}, {0x0080, 0x8000, 0x0040},
    {0x0002, 0x8000, 0x0001}, {0x0001, 0x8000, 0x0000}, {0x8000, 0x8000, 0x8000}, {0x8000, 0x0000, 0x0000},
    {0x7F80, 0x8000, 0x7F80}, {0xFF80, 0x8000, 0x7FFF}, {0x7F80, 0xFF80, 0x7FFF}, {0xFFC1, 0x8000, 0x7FFF}};
const std::vector<Literal> kFp16{
    {0x3C00, 0x1000, 0x3ABB}, {0xFBFF, 0xCC00, 0x7FFF}, {0xFBFF, 0xCBFF, 0x8000}, {0x8000, 0x8000, 0x8000},
    {0x8000, 0x0000, 0x0000}, {0x7C00, 0x8000, 0x7C00}, {0xFC00, 0x8000, 0x7FFF}, {0x7C00, 0xFC00, 0x7FFF},
    {0xFE01, 0x8000, 0x7FFF}, {0xB5A7, 0x8000, 0xB018}, {0x0E55, 0x8000, 0x0A55}, {0x8E55, 0x8000, 0x8A55},
    {0xC529, 0x8000, 0x8000}, {0x0001, 0x8000, 0x0000}, {0x7E00, 0x7E00, 0x7FFF}, {0x0000, 0x0000, 0x0000}};

class EveryImplementation : public testing::TestWithParam<std::tuple<std::size_t, Dtype>> {};

TEST_P(EveryImplementation, GivesTheLiteralBits) {
  const auto [index, dtype] = GetParam();
  const conformance::ElementwiseImplementation implementation = conformance::device_implementations()[index];
  const std::vector<Literal>& literals = dtype == Dtype::bf16 ? kBf16 : kFp16;
  constexpr std::int64_t kWidth = 16;
  conformance::Case c;
  c.rows = 1;
  c.width = kWidth;
  const conformance::Placement placement = conformance::place(c, true);
  conformance::DeviceBuffer<std::uint16_t> arena(placement.arena_elements);
  const conformance::Tensors tensors(placement, true, arena.get(), dtype, DLDevice{kDLCUDA, 0});
  std::vector<std::uint16_t> x, bias, got(kWidth);
  for (const Literal& literal : literals) {
    x.push_back(literal.x);
    bias.push_back(literal.bias);
  }
  constexpr std::size_t kBytes = kWidth * sizeof(std::uint16_t);
  ASSERT_EQ(cudaMemcpy(tensors.input.data, x.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(tensors.bias.data, bias.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  implementation.run(tensors, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(got.data(), tensors.output.data, kBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t i = 0; i < literals.size(); ++i)
    EXPECT_EQ(got[i], literals[i].right)
        << implementation.name << ", x 0x" << std::hex << literals[i].x << ", bias 0x" << literals[i].bias;
}

INSTANTIATE_TEST_SUITE_P(Device, EveryImplementation,
                         testing::Combine(testing::Values(0u, 1u, 2u),
                                          testing::Values(Dtype::bf16, Dtype::fp16)));

// 262145 x 16384 elements: the last row lies beyond 2^32.
TEST(MoreThan4GiElements, FirstAndLastRowAreServed) {
  constexpr std::int64_t kRows = 262145, kWidth = 16384;
  DeviceTensor input(kRows, kWidth, Dtype::bf16), bias(0, kWidth, Dtype::bf16),
      output(kRows, kWidth, Dtype::bf16);
  bias.write(std::vector<std::uint16_t>(kWidth, 0x8000));
  const auto row = [&](const DLTensor& tensor, std::int64_t index) {
    return static_cast<std::uint16_t*>(tensor.data) + index * kWidth;
  };
  const std::vector<std::uint16_t> twos(kWidth, 0x4000), ties(kWidth, 0x3F80);
  constexpr std::size_t kRowBytes = kWidth * sizeof(std::uint16_t);
  ASSERT_EQ(cudaMemcpy(row(input.tensor, 0), twos.data(), kRowBytes, cudaMemcpyHostToDevice), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(row(input.tensor, kRows - 1), ties.data(), kRowBytes, cudaMemcpyHostToDevice),
            cudaSuccess);
  kernels::cuda::bias_gelu_tanh(input.tensor, bias.tensor, output.tensor, nullptr);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  std::vector<std::uint16_t> got(kWidth);
  ASSERT_EQ(cudaMemcpy(got.data(), row(output.tensor, 0), kRowBytes, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(got,
            std::vector<std::uint16_t>(kWidth, 0x3FFA));  // gelu(2) = 1.9546 is nearest to 0x3FFA, 1.953125
  ASSERT_EQ(cudaMemcpy(got.data(), row(output.tensor, kRows - 1), kRowBytes, cudaMemcpyDeviceToHost),
            cudaSuccess);
  EXPECT_EQ(got,
            std::vector<std::uint16_t>(kWidth, 0x3F57));  // gelu(1) = 0.8412 is nearest to 0x3F57, 0.83984375
}

}  // namespace
}  // namespace bitproof::gpu_tests
