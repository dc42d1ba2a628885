// A call of linear + GELU on the CPU, its output poisoned and fenced.
#include <algorithm>
#include <array>
#include <cstdint>
#include <new>
#include <utility>
#include <vector>

#include "conformance/linear/call.h"
#include "conformance/poison.h"
#include "kernels/elementwise_guard.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

constexpr std::size_t kAlignment = 256;  // bytes, of every tensor
constexpr std::size_t kGuard = kAlignment / sizeof(std::uint16_t);

// Elements between two guard bands.
class Fenced {
 public:
  explicit Fenced(std::size_t elements)
      : elements_(elements), memory_(new (std::align_val_t{kAlignment}) std::uint16_t[elements + 2 * kGuard]) {
    std::fill_n(memory_.get(), elements + 2 * kGuard, kPoison);
  }

  std::uint16_t* data() const { return memory_.get() + kGuard; }
  std::size_t size() const { return elements_; }

  // Elements of the guard bands that were written to.
  std::uint64_t overwritten() const {
    std::uint64_t count = 0;
    for (std::size_t i = 0; i < kGuard; ++i)
      count += (memory_[i] != kPoison) + (memory_[kGuard + elements_ + i] != kPoison);
    return count;
  }

 private:
  struct Release {
    void operator()(std::uint16_t* memory) const { ::operator delete[](memory, std::align_val_t{kAlignment}); }
  };
  std::size_t elements_;
  std::unique_ptr<std::uint16_t[], Release> memory_;
};

// A contiguous tensor of the host. Shape and strides live in it, so that it stays where it is.
template <std::size_t kRank>
class HostTensor {
 public:
  HostTensor(std::uint16_t* data, const std::array<std::size_t, kRank>& shape, reference::Dtype dtype) {
    std::int64_t step = 1;
    for (std::size_t axis = kRank; axis-- > 0;) {
      shape_[axis] = static_cast<std::int64_t>(shape[axis]);
      strides_[axis] = std::exchange(step, step * shape_[axis]);
    }
    tensor_.data = data;
    tensor_.device = {kDLCPU, 0};
    tensor_.ndim = static_cast<int>(kRank);
    tensor_.dtype = {static_cast<std::uint8_t>(dtype == reference::Dtype::bf16 ? kDLBfloat : kDLFloat), 16, 1};
    tensor_.shape = shape_.data();
    tensor_.strides = strides_.data();
  }
  HostTensor(const HostTensor&) = delete;
  HostTensor& operator=(const HostTensor&) = delete;

  const DLTensor& operator*() const { return tensor_; }

 private:
  std::array<std::int64_t, kRank> shape_{}, strides_{};
  DLTensor tensor_{};
};

// An operand in memory that the call may not change.
template <Half T>
class Operand {
 public:
  explicit Operand(const std::vector<T>& values) : values_(values), memory_(values.size()) {
    std::ranges::transform(values, memory_.data(), [](T value) { return value.bits; });
  }

  std::uint16_t* data() const { return memory_.data(); }
  std::uint64_t overwritten() const {
    std::uint64_t count = memory_.overwritten();
    for (std::size_t i = 0; i < values_.size(); ++i) count += memory_.data()[i] != values_[i].bits;
    return count;
  }

 private:
  const std::vector<T>& values_;
  Fenced memory_;
};

template <Half T>
class HostCallLauncher final : public LinearLauncher<T> {
 public:
  explicit HostCallLauncher(LinearCall call) : call_(std::move(call)) {}

  Launched<T> launch(const HostLayer<T>& layer, std::span<const BlockRange> rows) override {
    const auto& [row_count, columns, depth] = layer.shape;
    const Operand<T> x(layer.x), weight(layer.weight), bias(layer.bias);
    const Fenced output(row_count * columns);
    const HostTensor<2> x_tensor(x.data(), {row_count, depth}, T::kDtype),
        weight_tensor(weight.data(), {columns, depth}, T::kDtype),
        output_tensor(output.data(), {row_count, columns}, T::kDtype);
    const HostTensor<1> bias_tensor(bias.data(), {columns}, T::kDtype);
    Launched<T> result;
    try {
      result.algorithm = call_({*x_tensor, *weight_tensor, *bias_tensor, *output_tensor}, nullptr);
    } catch (const kernels::Refused& refusal) {
      result.refusal = refusal.what();
      return result;
    }
    std::uint64_t row = 0;
    for (const BlockRange& tested : rows) {
      result.unwritten += poisoned(output, row * columns, tested.begin * columns);
      for (std::size_t i = tested.begin * columns; i < tested.end * columns; ++i)
        result.outputs.push_back(T{output.data()[i]});
      row = tested.end;
    }
    result.unwritten += poisoned(output, row * columns, output.size());
    result.overwritten = output.overwritten() + x.overwritten() + weight.overwritten() + bias.overwritten();
    return result;
  }

 private:
  static std::uint64_t poisoned(const Fenced& memory, std::size_t begin, std::size_t end) {
    return static_cast<std::uint64_t>(std::count(memory.data() + begin, memory.data() + end, kPoison));
  }

  LinearCall call_;
};

}  // namespace

template <Half T>
std::unique_ptr<LinearLauncher<T>> make_host_launcher(LinearCall call) {
  return std::make_unique<HostCallLauncher<T>>(std::move(call));
}

template std::unique_ptr<LinearLauncher<reference::Bf16>> make_host_launcher(LinearCall);
template std::unique_ptr<LinearLauncher<reference::Fp16>> make_host_launcher(LinearCall);

}  // namespace bitproof::conformance
