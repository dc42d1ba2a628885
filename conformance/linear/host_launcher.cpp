// host.eager: the tensor core's sums in binary64, term by term, then the production GELU kernel compiled for
// the CPU. Nothing of it is shared with what it is compared with: the reference's GEMM works on significands
// and, vectorised, on packed exponents, and its GELU is CUDA's tanhf on the model of the special-function unit.
#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "conformance/linear/exact_step.h"
#include "conformance/linear/launcher.h"
#include "conformance/poison.h"
#include "kernels/elementwise_guard.h"
#include "kernels/gelu_tanh.h"
#include "reference/environment.h"
#include "reference/linear/gemm.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

constexpr std::size_t kStep = 16, kGuard = 64;

template <Half T>
T biased_sum(std::span<const T> x, std::span<const T> weight, T bias) {
  float sum = 0;
  for (std::size_t k = 0; k < x.size(); k += kStep) {
    const std::size_t count = std::min(kStep, x.size() - k);
    sum = exact_step<T>(x.subspan(k, count), weight.subspan(k, count), sum);
  }
  // Binary64 rounds the sum of two FP32 numbers innocuously: 53 >= 2 * 24 + 2.
  const auto biased =
      static_cast<float>(static_cast<double>(sum) + static_cast<double>(reference::widen(bias)));
  return nearest<T>(static_cast<double>(biased));
}

// A [rows, columns] tensor over memory of the host.
class Matrix {
 public:
  Matrix(std::uint16_t* data, std::size_t rows, std::size_t columns, reference::Dtype dtype)
      : shape_{static_cast<std::int64_t>(rows), static_cast<std::int64_t>(columns)} {
    tensor_.data = data;
    tensor_.device = {kDLCPU, 0};
    tensor_.ndim = 2;
    tensor_.shape = shape_.data();
    tensor_.dtype = {static_cast<std::uint8_t>(dtype == reference::Dtype::bf16 ? kDLBfloat : kDLFloat), 16, 1};
  }
  Matrix(const Matrix&) = delete;
  Matrix& operator=(const Matrix&) = delete;
  const DLTensor& tensor() const { return tensor_; }

 private:
  std::array<std::int64_t, 2> shape_;
  DLTensor tensor_{};
};

template <Half T>
class HostLauncher final : public LinearLauncher<T> {
 public:
  Launched<T> launch(const HostLayer<T>& layer, std::span<const BlockRange> rows) override {
    Launched<T> result;
    const reference::GemmShape& shape = layer.shape;
    if (const auto refusal = reference::refuse_prediction(shape, 1)) {
      result.refusal = refusal->reason;
      return result;
    }
    std::vector<std::uint16_t> memory(shape.rows * shape.columns + 2 * kGuard, kPoison);
    std::uint16_t* const output = memory.data() + kGuard;
    const std::span<const T> x(layer.x), weight(layer.weight);
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, shape.rows * shape.columns), [&](const auto& part) {
      reference::require_environment();
      for (std::size_t i = part.begin(); i < part.end(); ++i) {
        const std::size_t row = i / shape.columns, column = i % shape.columns;
        output[i] = biased_sum<T>(x.subspan(row * shape.depth, shape.depth),
                                  weight.subspan(column * shape.depth, shape.depth), layer.bias[column])
                        .bits;
      }
    });
    const Matrix matrix(output, shape.rows, shape.columns, T::kDtype);
    kernels::require(kernels::host::can_use_gelu_tanh(matrix.tensor(), matrix.tensor()));
    kernels::host::gelu_tanh(matrix.tensor(), matrix.tensor());

    for (const BlockRange& range : rows)
      for (std::size_t i = range.begin * shape.columns; i < range.end * shape.columns; ++i)
        result.outputs.push_back(T{output[i]});
    for (std::size_t i = 0; i < kGuard; ++i)
      result.overwritten += (memory[i] != kPoison) + (memory[memory.size() - 1 - i] != kPoison);
    return result;
  }
};

}  // namespace

template <Half T>
std::unique_ptr<LinearLauncher<T>> make_host_launcher() {
  return std::make_unique<HostLauncher<T>>();
}

template std::unique_ptr<LinearLauncher<reference::Bf16>> make_host_launcher();
template std::unique_ptr<LinearLauncher<reference::Fp16>> make_host_launcher();

}  // namespace bitproof::conformance
