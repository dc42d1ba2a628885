// Kernels that fail on purpose, checked the way the real ones are: the harness must find and locate each fault.
#include <cstdint>
#include <memory>
#include <string>

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/implementation.h"
#include "conformance/report/combine.h"
#include "kernels/cuda/device.h"

namespace bitproof::gpu_tests {

__global__ void write_element(std::uint16_t* address, std::uint16_t bits) { *address = bits; }

// A fault that follows the right computation: overwrites one element, at an offset from the output's first.
struct PlantedWrite {
  std::int64_t offset;
  std::uint16_t bits;
};

namespace {

using conformance::Case;
using conformance::ElementwiseImplementation;
using conformance::Location;
using conformance::Record;
using conformance::Tensors;
using conformance::Verdict;

constexpr conformance::ElementwiseOperator kOperator{"bias_gelu_tanh", true};

ElementwiseImplementation fused() { return conformance::device_implementations().front(); }

conformance::ElementwiseSubject subject(const ElementwiseImplementation& implementation,
                                        const std::string& domain) {
  conformance::ElementwiseSubject subject{
      kOperator,
      reference::Dtype::bf16,
      reference::kPytorch211Cuda,
      implementation,
      *conformance::make_domain(domain, kOperator, reference::Dtype::bf16, Location::device, 1),
      {}};
  Record& identity = subject.identity;
  identity.op = kOperator.name;
  identity.dtype = "bf16";
  identity.implementation = implementation.name;
  identity.domain = domain;
  identity.device = "cuda:0";
  identity.profile = subject.profile.name;
  identity.equality = "bitwise";
  identity.seed = 1;
  identity.total = subject.domain.total;
  identity.unit = subject.domain.unit;
  identity.blocks_total = subject.domain.blocks;
  return subject;
}

Record run_block(const ElementwiseImplementation& implementation, const std::string& domain,
                 std::uint64_t block) {
  return conformance::make_device_check(subject(implementation, domain), 0)->run_block(block);
}

// The block of `layout` that is launched in this way.
std::uint64_t layout_block(conformance::Launch launch) {
  const auto domain =
      *conformance::make_domain("layout", kOperator, reference::Dtype::bf16, Location::device, 1);
  for (std::uint64_t block = 0; block < domain.blocks; ++block)
    if (domain.make_case(block).layout.launch == launch) return block;
  ADD_FAILURE() << "no such case";
  return 0;
}

ElementwiseImplementation with_planted_write(PlantedWrite planted) {
  ElementwiseImplementation implementation = fused();
  implementation.name = "planted";
  const auto right = implementation.run;
  implementation.run = [right, planted](const Tensors& tensors, CUstream_st* stream) {
    right(tensors, stream);
    write_element<<<1, 1, 0, stream>>>(static_cast<std::uint16_t*>(tensors.output.data) + planted.offset,
                                       planted.bits);
  };
  return implementation;
}

TEST(PlantedFault, AWrongLaneInTheLastRowOfTheLargestShapeIsFoundAndLocated) {
  constexpr std::uint64_t kRows = 75600, kWidth = 13824, kColumn = 13819;
  const Record record =
      run_block(with_planted_write({(kRows - 1) * kWidth + kColumn, 0x1234}), "production", 3);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.mismatches, 1u);
  EXPECT_EQ(record.kinds.value, 1u);
  EXPECT_EQ(record.first->row, kRows - 1);
  EXPECT_EQ(record.first->column, kColumn);
  EXPECT_EQ(record.first->vector_lane, kColumn % 8);
  EXPECT_EQ(record.first->got, "0x1234");
  EXPECT_NE(record.digest, record.expected_digest);
}

TEST(PlantedFault, AnUnwrittenElementIsFound) {
  const Record record = run_block(with_planted_write({77, conformance::kPoison}), "values", 0);
  EXPECT_EQ(record.kinds.unwritten, 1u);
  EXPECT_EQ(record.mismatches, 1u);
}

TEST(PlantedFault, AWritePastTheEndIsFound) {
  const Record record = run_block(with_planted_write({65536, 0x0000}), "values", 0);
  EXPECT_EQ(record.kinds.out_of_bounds, 1u);
  EXPECT_EQ(record.mismatches, 1u);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(what(*record.first), "a write to element 0 past the end of the output");
  EXPECT_EQ(record.first->expected, "0xffa5");
  EXPECT_EQ(record.first->got, "0x0000");
}

TEST(PlantedFault, AWriteBeforeTheStartIsFound) {
  const Record record = run_block(with_planted_write({-1, 0x1234}), "values", 0);
  EXPECT_EQ(record.kinds.out_of_bounds, 1u);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(what(*record.first), "a write to element 1 before the start of the output");
  EXPECT_EQ(record.first->got, "0x1234");
}

TEST(PlantedFault, TheFirstOfTwoWritesOutOfBoundsIsShown) {
  // The output lies behind the bias.
  ElementwiseImplementation both = with_planted_write({65536 + 700, 0x0001});
  both.run = [past = both.run, before = with_planted_write({-300, 0x0002}).run](const Tensors& tensors,
                                                                                CUstream_st* stream) {
    past(tensors, stream);
    before(tensors, stream);
  };
  const Record record = run_block(both, "values", 0);
  EXPECT_EQ(record.kinds.out_of_bounds, 2u);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(what(*record.first), "a write to element 300 before the start of the output");
  EXPECT_EQ(record.first->got, "0x0002");
}

TEST(PlantedFault, AFlippedSignOfZeroIsFound) {
  // Element 0x8000 of `values` is -0 + -0, whose GELU is -0.
  const Record record = run_block(with_planted_write({0x8000, 0x0000}), "values", 0);
  EXPECT_EQ(record.kinds.zero_sign, 1u);
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.first->expected, "0x8000");
}

TEST(PlantedFault, AnotherNanIsFound) {
  // Element 0x7FC0 of `values` is a NaN; the CPU's NaN for it would be 0x7FC0.
  EXPECT_EQ(run_block(with_planted_write({0x7FC0, 0x7FC0}), "values", 0).kinds.nan_bits, 1u);
}

TEST(PlantedFault, AKernelThatWritesNothingIsFound) {
  ElementwiseImplementation implementation = fused();
  implementation.run = [](const Tensors&, CUstream_st*) {};
  EXPECT_EQ(run_block(implementation, "values", 0).kinds.unwritten, 65536u);
}

TEST(PlantedFault, AKernelThatIgnoresItsStreamIsFound) {
  ElementwiseImplementation implementation = fused();
  const auto right = implementation.run;
  implementation.run = [right](const Tensors& tensors, CUstream_st*) { right(tensors, nullptr); };
  EXPECT_GT(run_block(implementation, "layout", layout_block(conformance::Launch::delayed_producer)).mismatches,
            0u);
}

// Reads the bias before it waits for the kernel ahead, which has released its dependents but not written yet:
// the fault of a kernel that prefetches its bias. Writes 0x5555 where it saw poison, else the input. (A kernel
// that never waits is not started early at all: the driver keeps it in order.)
__global__ void prefetch_bias(const std::uint16_t* input, const std::uint16_t* bias, std::uint16_t* output,
                              std::int64_t rows, std::int64_t width) {
  const std::int64_t column = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
  const std::uint16_t early = column < width ? static_cast<const volatile std::uint16_t*>(bias)[column] : 0;
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
  if (column >= width) return;
  for (std::int64_t row = 0; row < rows; ++row)
    output[row * width + column] = early == conformance::kPoison ? 0x5555 : input[row * width + column];
}

TEST(PlantedFault, AKernelThatReadsTheBiasTooEarlyIsFound) {
  ElementwiseImplementation implementation = fused();
  implementation.run = [](const Tensors& tensors, CUstream_st* stream) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(48);
    config.blockDim = dim3(256);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = 1;
    const auto* const input = static_cast<const std::uint16_t*>(tensors.input.data);
    const auto* const bias = static_cast<const std::uint16_t*>(tensors.bias.data);
    kernels::cuda::check(cudaLaunchKernelEx(&config, prefetch_bias, input, bias,
                                            static_cast<std::uint16_t*>(tensors.output.data),
                                            tensors.input.shape[0], tensors.input.shape[1]),
                         "launch of prefetch_bias");
  };
  const Record record = run_block(implementation, "layout", layout_block(conformance::Launch::late_bias));
  ASSERT_TRUE(record.first);
  EXPECT_EQ(record.first->got, "0x5555")
      << "the producer was not late: the case would not notice a missing wait";
}

TEST(PlantedFault, AResultThatDiffersOnRepetitionIsFound) {
  ElementwiseImplementation implementation = fused();
  const auto right = implementation.run;
  auto calls = std::make_shared<int>(0);
  implementation.run = [right, calls](const Tensors& tensors, CUstream_st* stream) {
    right(tensors, stream);
    if (++*calls == 37)
      write_element<<<1, 1, 0, stream>>>(static_cast<std::uint16_t*>(tensors.output.data), 0x1234);
  };
  EXPECT_EQ(run_block(implementation, "layout", layout_block(conformance::Launch::repeated)).mismatches, 1u);
}

TEST(RightKernel, IsNotAccused) {
  for (const ElementwiseImplementation& implementation : conformance::device_implementations())
    for (const std::string domain : {"values", "boundary"}) {
      const Record record = conformance::decided(run_block(implementation, domain, 0), {0, 1});
      EXPECT_EQ(record.verdict, Verdict::bit_exact) << implementation.name << ' ' << domain;
    }
}

}  // namespace
}  // namespace bitproof::gpu_tests
