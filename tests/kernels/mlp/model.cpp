#include "tests/kernels/mlp/model.h"

#include <algorithm>
#include <span>

#include <tbb/global_control.h>

#include "reference/bulk.h"
#include "reference/linear/gemm.h"
#include "reference/linear/linear.h"
#include "reference/nvfp4/linear.h"
#include "reference/nvfp4/mlp.h"

namespace bitproof::kernels::test {
namespace {

using reference::Bf16;
using reference::Half;

template <Half T>
std::span<const T> numbers(const Matrix& matrix) {
  return {reinterpret_cast<const T*>(matrix.data()), static_cast<std::size_t>(matrix.count())};
}

template <Half T>
std::vector<float> plain_gemm_of(const Matrix& x, const Matrix& weight) {
  return reference::gemm_plain(numbers<T>(x), numbers<T>(weight),
                               {.rows = static_cast<std::size_t>(x.rows()),
                                .columns = static_cast<std::size_t>(weight.rows()),
                                .depth = static_cast<std::size_t>(x.width())});
}

// Numbers of a few significant bits around zero: sums round, ties and zeros occur.
void fill(GuardedTensor& tensor, std::uint64_t seed, float scale) {
  std::uint64_t state = seed * 0x9E3779B97F4A7C15u + 1;
  for (std::uint16_t& bits : tensor.elements()) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    const auto number = static_cast<float>(static_cast<std::int64_t>(state >> 54) - 512);
    bits = reference::round_to<Bf16>(number * scale).bits;
  }
}

std::vector<Bf16> bf16(GuardedTensor& tensor) {
  std::vector<Bf16> result;
  for (const std::uint16_t bits : tensor.elements()) result.push_back({bits});
  return result;
}

Bits bits_of(const std::vector<Bf16>& values) {
  Bits bits;
  for (const Bf16 value : values) bits.push_back(value.bits);
  return bits;
}

}  // namespace

HostGemm plain_gemm() {
  return [](const Matrix& x, const Matrix& weight) {
    return x.dtype() == HalfType::bf16 ? plain_gemm_of<Bf16>(x, weight)
                                       : plain_gemm_of<reference::Fp16>(x, weight);
  };
}

void RecordingExecutor::linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  steps.emplace_back(layer.bias != nullptr && !layer.bias_deferred ? "linear with bias" : "linear");
  HostExecutor::linear(layer, x, output);
}

void RecordingExecutor::linear_nvfp4(const DLTensor& x, const Nvfp4Weight& weight, const DLTensor& output) {
  steps.emplace_back("linear_nvfp4");
  HostExecutor::linear_nvfp4(x, weight, output);
}

void RecordingExecutor::linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  steps.emplace_back("linear_gelu");
  HostExecutor::linear_gelu(layer, x, output);
}

void RecordingExecutor::add_bias(const DLTensor& tensor, const DLTensor& bias) {
  steps.emplace_back("add_bias");
  HostExecutor::add_bias(tensor, bias);
}

void RecordingExecutor::gelu(const DLTensor& tensor) {
  steps.emplace_back("gelu");
  HostExecutor::gelu(tensor);
}

Applicability RecordingExecutor::can_use_bias_gelu(const DLTensor& input, const DLTensor& bias,
                                                   const DLTensor& output) const {
  return can_fuse ? HostExecutor::can_use_bias_gelu(input, bias, output) : Applicability{"told not to"};
}

void RecordingExecutor::bias_gelu(const DLTensor& input, const DLTensor& bias, const DLTensor& output) {
  steps.emplace_back("bias_gelu");
  HostExecutor::bias_gelu(input, bias, output);
  if (wrong_at) data_of(output)[*wrong_at] ^= 0x8000;
}

TestMlp::TestMlp(FirstLayer kind, std::string name, std::uint64_t seed)
    : kind_(kind),
      x_({kRows, kDepth}),
      weight1_({kHidden, kDepth}),
      bias1_({kHidden}),
      weight2_({kColumns, kHidden}),
      bias2_({kColumns}) {
  fill(x_, seed, 0x1p-8f);
  fill(weight1_, seed + 1, 0x1p-9f);
  fill(bias1_, seed + 2, 0x1p-9f);
  fill(weight2_, seed + 3, 0x1p-9f);
  fill(bias2_, seed + 4, 0x1p-9f);

  // The reference on this thread alone: ThreadSanitizer does not see how oneTBB, which it did not compile,
  // orders its workers.
  const tbb::global_control on_one_thread(tbb::global_control::max_allowed_parallelism, 1);
  HostExecutor executor(plain_gemm(), quiet_sights());
  const DLTensor* const bias = has_bias(kind) ? &bias1_.description : nullptr;
  first_ = is_nvfp4(kind)
               ? std::make_unique<Linear>(executor.quantise_weight(weight1_.description), HalfType::bf16, bias)
               : std::make_unique<Linear>(weight1_.description, bias);
  second_ = std::make_unique<Linear>(weight2_.description, &bias2_.description);
  mlp_ = std::make_unique<Mlp>(std::move(name), *first_, *second_);

  const std::vector<Bf16> x = bf16(x_), w1 = bf16(weight1_), w2 = bf16(weight2_), b2 = bf16(bias2_);
  const std::vector<Bf16> b1 = has_bias(kind) ? bf16(bias1_) : std::vector<Bf16>{};
  const reference::Profile& profile = reference::kPytorch211Cuda;
  const reference::GemmShape shape{.rows = kRows, .columns = kHidden, .depth = kDepth};
  const auto finished = [&](std::vector<Bf16> hidden) {
    reference::gelu_tanh<Bf16>(hidden, hidden, profile);
    return bits_of(reference::linear(
        reference::LinearOperands<Bf16>{.x = hidden,
                                        .weight = w2,
                                        .bias = b2,
                                        .shape = {.rows = kRows, .columns = kColumns, .depth = kHidden}}));
  };
  std::vector<Bf16> product;
  if (is_nvfp4(kind)) {
    product = reference::linear_nvfp4<Bf16>(
        reference::quantise_nvfp4<Bf16>(x, kDepth, reference::nvfp4_tensor_scale<Bf16>(x)),
        reference::quantise_nvfp4<Bf16>(w1, kDepth, reference::nvfp4_tensor_scale<Bf16>(w1)));
  } else {
    product =
        reference::linear(reference::LinearOperands<Bf16>{.x = x, .weight = w1, .bias = {}, .shape = shape});
  }
  eager_deferred_ = finished(b1.empty() ? product : reference::add_bias<Bf16>(product, b1, profile));
  eager_ = is_nvfp4(kind) ? eager_deferred_
                          : finished(reference::linear(reference::LinearOperands<Bf16>{
                                .x = x, .weight = w1, .bias = b1, .shape = shape}));
  if (kind == FirstLayer::dense)
    epilogue_ = bits_of(
        reference::mlp_gelu_epilogue<Bf16>(x, {.weight = w1, .bias = b1, .columns = kHidden, .depth = kDepth},
                                           {.weight = w2, .bias = b2, .columns = kColumns, .depth = kHidden}));
}

Bits TestMlp::run(Quality quality, Executor& executor) {
  GuardedTensor output({kRows, kColumns});
  mlp_->run(x_.description, output.description, quality, executor);
  return {output.elements().begin(), output.elements().end()};
}

}  // namespace bitproof::kernels::test
