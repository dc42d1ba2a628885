// The steps of an MLP on the card against the CPU reference, and the rule about graphs.
#include "kernels/mlp/mlp.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/fusion/gates.h"
#include "kernels/mlp/cuda_executor.h"
#include "reference/bulk.h"
#include "reference/linear/linear.h"
#include "reference/nvfp4/linear.h"
#include "reference/nvfp4/mlp.h"
#include "tests/gpu/device_tensors.h"

namespace bitproof::gpu_tests {
namespace {

using kernels::Quality;
using kernels::cuda::CudaExecutor;
using reference::Bf16;
using reference::Fp16;
using reference::Half;

constexpr std::int64_t kRows = 33, kDepth = 512, kHidden = 1024, kColumns = 256;
const reference::Profile& kProfile = reference::kPytorch211Cuda;

template <Half T>
std::vector<T> numbers(std::int64_t count, std::uint64_t seed, float scale) {
  std::vector<T> result;
  std::uint64_t state = seed;
  for (std::int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    result.push_back(
        reference::round_to<T>(static_cast<float>(static_cast<std::int64_t>(state >> 40) - (1 << 23)) * scale));
  }
  return result;
}

template <Half T>
std::vector<std::uint16_t> bits(const std::vector<T>& values) {
  std::vector<std::uint16_t> result;
  for (const T value : values) result.push_back(value.bits);
  return result;
}

// Where `got` differs from `expected`.
std::size_t differences(const std::vector<std::uint16_t>& expected, const std::vector<std::uint16_t>& got) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) count += expected[i] != got[i] ? 1 : 0;
  return count;
}

class Stream {
 public:
  // In order with the default stream, on which the tensors are filled.
  Stream() { kernels::cuda::check(cudaStreamCreate(&stream_), "cudaStreamCreate"); }
  ~Stream() { (void)cudaStreamDestroy(stream_); }
  operator cudaStream_t() const { return stream_; }  // NOLINT(google-explicit-constructor)

 private:
  cudaStream_t stream_ = nullptr;
};

// An MLP of one dtype, on the host and on the card.
template <Half T>
struct CardMlp {
  std::vector<T> x = numbers<T>(kRows * kDepth, 1, 0x1p-22f),
                 weight1 = numbers<T>(kHidden * kDepth, 2, 0x1p-26f), bias1 = numbers<T>(kHidden, 3, 0x1p-24f),
                 weight2 = numbers<T>(kColumns * kHidden, 4, 0x1p-26f),
                 bias2 = numbers<T>(kColumns, 5, 0x1p-24f);
  DeviceTensor x_{kRows, kDepth, T::kDtype}, weight1_{kHidden, kDepth, T::kDtype},
      bias1_{0, kHidden, T::kDtype}, weight2_{kColumns, kHidden, T::kDtype}, bias2_{0, kColumns, T::kDtype},
      output_{kRows, kColumns, T::kDtype};
  Stream stream;
  std::shared_ptr<kernels::FirstSight> sights = std::make_shared<kernels::FirstSight>();
  CudaExecutor executor{0, stream, sights, {.epilogue = kernels::cuda::EpilogueUse::always}};
  kernels::Nvfp4Weight nvfp4;

  CardMlp() {
    x_.write(bits(x));
    weight1_.write(bits(weight1));
    bias1_.write(bits(bias1));
    weight2_.write(bits(weight2));
    bias2_.write(bits(bias2));
    nvfp4 = executor.quantise_weight(weight1_.tensor);
  }

  std::vector<std::uint16_t> run(const kernels::Mlp& mlp, Quality quality) {
    output_.write(std::vector<std::uint16_t>(kRows * kColumns, conformance::kPoison));
    kernels::cuda::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    // [3, 11, ...]: leading axes are rows.
    std::array<std::int64_t, 3> in_shape{3, kRows / 3, kDepth}, out_shape{3, kRows / 3, kColumns};
    DLTensor in = x_.tensor, out = output_.tensor;
    in.ndim = out.ndim = 3;
    in.shape = in_shape.data();
    out.shape = out_shape.data();
    mlp.run(in, out, quality, executor);
    return output_.read();
  }

  reference::Nvfp4Matrix quantised_x() const {
    return reference::quantise_nvfp4<T>(x, kDepth, reference::nvfp4_tensor_scale<T>(x));
  }
  reference::Nvfp4Matrix quantised_weight() const {
    return reference::quantise_nvfp4<T>(weight1, kDepth, reference::nvfp4_tensor_scale<T>(weight1));
  }
  reference::DenseLayer<T> dense1() const {
    return {.weight = weight1, .bias = bias1, .columns = kHidden, .depth = kDepth};
  }
  reference::DenseLayer<T> dense2() const {
    return {.weight = weight2, .bias = bias2, .columns = kColumns, .depth = kHidden};
  }
};

template <class T>
class CardMlpTest : public testing::Test {};
using Dtypes = testing::Types<Bf16, Fp16>;
TYPED_TEST_SUITE(CardMlpTest, Dtypes);

template <class Value>
std::vector<Value> fetched(const Value* device, std::size_t count) {
  std::vector<Value> result(count);
  kernels::cuda::check(cudaMemcpy(result.data(), device, count * sizeof(Value), cudaMemcpyDeviceToHost),
                       "cudaMemcpy");
  return result;
}

TYPED_TEST(CardMlpTest, QuantisesAllBitsAsTheReference) {
  // Every bit pattern once, in an order that mixes magnitudes, then once more in order.
  std::vector<TypeParam> x;
  for (std::uint32_t i = 0; i < 131072; ++i)
    x.push_back(TypeParam{static_cast<std::uint16_t>(i < 65536 ? i * 40503u : i)});
  for (const bool finite : {false, true}) {
    if (finite)
      for (TypeParam& value : x) value.bits &= 0xBFFF;
    DeviceTensor input(256, 512, TypeParam::kDtype);
    input.write(bits(x));
    CardMlp<TypeParam> card;
    const kernels::Nvfp4Weight weight = card.executor.quantise_weight(input.tensor);
    const reference::Nvfp4Matrix expected =
        reference::quantise_nvfp4<TypeParam>(x, 512, reference::nvfp4_tensor_scale<TypeParam>(x));
    EXPECT_EQ(fetched(weight.matrix.tensor_scale, 1)[0], expected.tensor_scale);
    const std::vector<std::uint8_t> scales = fetched(weight.matrix.scales, expected.scales.size());
    const std::vector<std::uint8_t> values = fetched(weight.matrix.values, expected.values.size() / 2);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < scales.size(); ++i) wrong += scales[i] != expected.scales[i].bits;
    for (std::size_t i = 0; i < expected.values.size(); ++i)
      wrong += (values[i / 2] >> (i % 2 * 4) & 0xF) != expected.values[i].bits;
    EXPECT_EQ(wrong, 0u);
    EXPECT_EQ(differences(bits(reference::dequantise_nvfp4<TypeParam>(expected)),
                          fetched(weight.operand->data(), x.size())),
              0u);
  }
}

TYPED_TEST(CardMlpTest, LinearNvfp4HasThePredictedBits) {
  CardMlp<TypeParam> card;
  DeviceTensor product(kRows, kHidden, TypeParam::kDtype);
  card.executor.linear_nvfp4(card.x_.tensor, card.nvfp4, product.tensor);
  EXPECT_EQ(differences(bits(reference::linear_nvfp4<TypeParam>(card.quantised_x(), card.quantised_weight())),
                        product.read()),
            0u);
}

TYPED_TEST(CardMlpTest, ALinearLayerWithoutItsBiasHasThePredictedBits) {
  CardMlp<TypeParam> card;
  kernels::Linear layer(card.weight1_.tensor, &card.bias1_.tensor);
  layer.skip_bias_add = true;
  DeviceTensor product(kRows, kHidden, TypeParam::kDtype);
  EXPECT_EQ(layer.run(card.x_.tensor, product.tensor, card.executor), kernels::BiasOf::caller);
  const std::vector<TypeParam> expected = reference::linear(
      reference::LinearOperands<TypeParam>{.x = card.x,
                                           .weight = card.weight1,
                                           .bias = {},
                                           .shape = {.rows = kRows, .columns = kHidden, .depth = kDepth}});
  EXPECT_EQ(differences(bits(expected), product.read()), 0u);
  card.executor.add_bias(product.tensor, card.bias1_.tensor);
  EXPECT_EQ(differences(bits(reference::add_bias<TypeParam>(expected, card.bias1, kProfile)), product.read()),
            0u);
}

TYPED_TEST(CardMlpTest, TheEpilogueIsTakenByHighRequestsWhileMounted) {
  CardMlp<TypeParam> card;
  kernels::Linear first(card.weight1_.tensor, &card.bias1_.tensor),
      second(card.weight2_.tensor, &card.bias2_.tensor);
  kernels::Mlp mlp("mlp", first, second);
  kernels::LinearGeluGate gate(
      [&](const kernels::LinearLayer& layer) { return card.executor.can_fuse_linear_gelu(layer); });
  gate.mark(mlp);
  const std::vector<std::uint16_t> eager =
      bits(reference::mlp_gelu<TypeParam>(card.x, card.dense1(), card.dense2(), kProfile));
  EXPECT_EQ(differences(eager, card.run(mlp, Quality::high)), 0u) << "not mounted";
  ASSERT_TRUE(gate.mount(mlp).mounted) << gate.can_mount(mlp).reason;
  EXPECT_EQ(differences(bits(reference::mlp_gelu_epilogue<TypeParam>(card.x, card.dense1(), card.dense2())),
                        card.run(mlp, Quality::high)),
            0u);
  EXPECT_EQ(differences(eager, card.run(mlp, Quality::lossless)), 0u) << "lossless while mounted";
  gate.unmount(mlp);
  EXPECT_EQ(differences(eager, card.run(mlp, Quality::high)), 0u) << "unmounted again";
}

TYPED_TEST(CardMlpTest, AnNvfp4SiteHasOneSetOfBitsMountedAndNot) {
  CardMlp<TypeParam> card;
  kernels::Linear first(
      card.nvfp4,
      TypeParam::kDtype == reference::Dtype::bf16 ? kernels::HalfType::bf16 : kernels::HalfType::fp16,
      &card.bias1_.tensor);
  kernels::Linear second(card.weight2_.tensor, &card.bias2_.tensor);
  kernels::Mlp mlp("mlp", first, second);
  kernels::Nvfp4BiasGeluGate gate;
  gate.mark(mlp);
  const std::vector<std::uint16_t> expected = bits(reference::mlp_gelu_nvfp4<TypeParam>(
      card.quantised_x(), card.quantised_weight(), card.bias1, card.dense2(), kProfile));
  EXPECT_EQ(differences(expected, card.run(mlp, Quality::lossless)), 0u);
  ASSERT_TRUE(gate.mount(mlp).mounted) << gate.can_mount(mlp).reason;
  EXPECT_EQ(differences(expected, card.run(mlp, Quality::high)), 0u) << "both paths, compared";
  EXPECT_EQ(differences(expected, card.run(mlp, Quality::high)), 0u) << "fused alone";
  EXPECT_EQ(differences(expected, card.run(mlp, Quality::lossless)), 0u) << "lossless while mounted";
  gate.unmount(mlp);
  EXPECT_EQ(differences(expected, card.run(mlp, Quality::high)), 0u) << "unmounted again";
}

TEST(CardFirstSight, TheFirstDifferenceIsFoundWhereverItIs) {
  CardMlp<Bf16> card;
  DeviceTensor a(3, 4096, reference::Dtype::bf16), b(3, 4096, reference::Dtype::bf16);
  std::vector<std::uint16_t> content(3 * 4096, 0x3F80);
  a.write(content);
  b.write(content);
  EXPECT_FALSE(card.executor.first_difference(a.tensor, b.tensor));
  content[12287] = 0x8000;
  b.write(content);
  EXPECT_EQ(card.executor.first_difference(a.tensor, b.tensor)->index, 12287);
  content[4097] = 0x7FC0;
  b.write(content);
  const auto difference = card.executor.first_difference(a.tensor, b.tensor);
  EXPECT_EQ(difference, (kernels::BitDifference{.index = 4097, .eager = 0x3F80, .fused = 0x7FC0}));
}

// --- Graphs
// ------------------------------------------------------------------------------------------------------

// How many kernels a graph has of what `work` launches, and what a replay of it leaves in `tensor`.
struct Captured {
  std::size_t kernels = 0;
  std::vector<std::uint16_t> bits;
};

template <class Work>
Captured capture(cudaStream_t stream, const DeviceTensor& tensor, Work&& work) {
  using kernels::cuda::check;
  cudaGraph_t graph = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
  work();
  check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
  Captured result;
  check(cudaGraphGetNodes(graph, nullptr, &result.kernels), "cudaGraphGetNodes");
  cudaGraphExec_t executable = nullptr;
  check(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  check(cudaGraphLaunch(executable, stream), "cudaGraphLaunch");
  result.bits = tensor.read();
  check(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  check(cudaGraphDestroy(graph), "cudaGraphDestroy");
  return result;
}

TEST(CardGraph, NothingIsVerifiedDuringCaptureAndEagerIsCapturedUntilItWas) {
  CardMlp<Bf16> card;
  const std::vector<Bf16> sum = numbers<Bf16>(kRows * kHidden, 9, 0x1p-21f);
  std::vector<Bf16> expected(sum.size());
  reference::bias_gelu_tanh<Bf16>(sum, card.bias1, expected, kProfile);
  DeviceTensor hidden(kRows, kHidden, reference::Dtype::bf16);
  const auto fill = [&] { hidden.write(bits(sum)); };
  const auto work = [&] { kernels::add_bias_and_gelu(hidden.tensor, card.bias1_.tensor, true, card.executor); };
  const auto sight = [&] {
    return card.sights->of(kernels::signature_of(card.executor.compute_capability(), hidden.tensor));
  };

  fill();
  const Captured unseen = capture(card.stream, hidden, work);
  EXPECT_EQ(unseen.kernels, 2u) << "eager: add, then GELU";
  EXPECT_EQ(differences(bits(expected), unseen.bits), 0u);
  EXPECT_EQ(sight(), kernels::Sight::unseen);

  fill();
  work();
  EXPECT_EQ(differences(bits(expected), hidden.read()), 0u);
  EXPECT_EQ(sight(), kernels::Sight::equal);

  fill();
  const Captured seen = capture(card.stream, hidden, work);
  EXPECT_EQ(seen.kernels, 1u) << "fused";
  EXPECT_EQ(differences(bits(expected), seen.bits), 0u);
}

TEST(CardGraph, AnMlpThatRanOnceIsCapturedWholeAndReplaysItsBits) {
  CardMlp<Bf16> card;
  kernels::Linear first(card.nvfp4, kernels::HalfType::bf16, &card.bias1_.tensor);
  kernels::Linear second(card.weight2_.tensor, &card.bias2_.tensor);
  kernels::Mlp mlp("mlp", first, second);
  kernels::Nvfp4BiasGeluGate gate;
  gate.mark(mlp);
  ASSERT_TRUE(gate.mount(mlp).mounted);
  const auto work = [&] { mlp.run(card.x_.tensor, card.output_.tensor, Quality::high, card.executor); };
  EXPECT_THROW((void)capture(card.stream, card.output_, work), kernels::Refused) << "nothing is prepared yet";
  cudaGraph_t abandoned = nullptr;
  (void)cudaStreamEndCapture(card.stream, &abandoned);
  (void)cudaGraphDestroy(abandoned);
  const std::vector<std::uint16_t> expected = card.run(mlp, Quality::high);
  card.output_.write(std::vector<std::uint16_t>(kRows * kColumns, conformance::kPoison));
  EXPECT_EQ(differences(expected, capture(card.stream, card.output_, work).bits), 0u);
}

TEST(CardNvfp4, TheNativeGemmIsRefusedWhereTheArchitectureHasNone) {
  CardMlp<Bf16> card;
  const int capability = card.executor.compute_capability();
  if (capability < 100) {
    EXPECT_THROW(CudaExecutor(0, card.stream, card.sights, {.nvfp4 = kernels::cuda::Nvfp4Gemm::native}),
                 kernels::Refused);
  }
  EXPECT_EQ(kernels::cuda::can_multiply_nvfp4(kernels::cuda::Nvfp4Gemm::native, 90).reason,
            "the native NVFP4 GEMM needs compute capability 10.0 or later; this device has 9.0");
  EXPECT_TRUE(kernels::cuda::can_multiply_nvfp4(kernels::cuda::Nvfp4Gemm::native, 100));
}

}  // namespace
}  // namespace bitproof::gpu_tests
