#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "conformance/mlp/place.h"
#include "conformance/poison.h"
#include "reference/linear/gemm.h"

namespace bitproof::conformance {
namespace {

using kernels::Matrix;
using reference::Half;

constexpr std::size_t kGuard = 64;  // elements; keeps the output aligned

template <Half T>
std::span<const T> numbers(const Matrix& matrix) {
  return {reinterpret_cast<const T*>(matrix.data()), static_cast<std::size_t>(matrix.count())};
}

template <Half T>
std::vector<float> gemm_of(const Matrix& x, const Matrix& weight) {
  return reference::gemm<T>(numbers<T>(x), numbers<T>(weight),
                            {.rows = static_cast<std::size_t>(x.rows()),
                             .columns = static_cast<std::size_t>(weight.rows()),
                             .depth = static_cast<std::size_t>(x.width())});
}

// Memory aligned to 128 bytes.
class AlignedBits {
 public:
  explicit AlignedBits(std::size_t count) : lines_((count + kElements - 1) / kElements) {}
  std::uint16_t* data() { return lines_.data()->data(); }

 private:
  static constexpr std::size_t kElements = 64;
  struct alignas(128) Line : std::array<std::uint16_t, kElements> {};
  std::vector<Line> lines_;
};

class HostPlace final : public MlpPlace {
 public:
  std::unique_ptr<kernels::Executor> new_executor(kernels::Log log) override {
    return std::make_unique<kernels::HostExecutor>(reference_gemm(),
                                                   std::make_shared<kernels::FirstSight>(std::move(log)));
  }

  kernels::LinearGeluGuard guard() const override { return kernels::HostExecutor::can_fuse_linear_gelu; }

  Matrix upload(std::span<const std::uint16_t> bits, std::uint64_t rows, std::uint64_t width,
                reference::Dtype dtype) override {
    auto& memory = kept_.emplace_back(std::make_unique<AlignedBits>(bits.size()));
    std::ranges::copy(bits, memory->data());
    return matrix(memory->data(), rows, width, dtype);
  }

  Matrix poisoned_output(std::uint64_t rows, std::uint64_t width, reference::Dtype dtype) override {
    count_ = rows * width;
    output_ = std::make_unique<AlignedBits>(count_ + 2 * kGuard);
    std::fill_n(output_->data(), count_ + 2 * kGuard, kPoison);
    return matrix(output_->data() + kGuard, rows, width, dtype);
  }

  MlpOutput fetch_output() override {
    const std::span all(output_->data(), count_ + 2 * kGuard);
    const auto changed = [](std::uint16_t bits) { return bits != kPoison; };
    return {{all.begin() + kGuard, all.end() - kGuard},
            static_cast<std::uint64_t>(std::ranges::count_if(all.first(kGuard), changed) +
                                       std::ranges::count_if(all.last(kGuard), changed))};
  }

 private:
  static Matrix matrix(std::uint16_t* data, std::uint64_t rows, std::uint64_t width, reference::Dtype dtype) {
    return {data,
            half_type_of(dtype),
            {kDLCPU, 0},
            static_cast<std::int64_t>(rows),
            static_cast<std::int64_t>(width)};
  }

  std::vector<std::unique_ptr<AlignedBits>> kept_;
  std::unique_ptr<AlignedBits> output_;
  std::size_t count_ = 0;
};

}  // namespace

kernels::HostGemm reference_gemm() {
  return [](const Matrix& x, const Matrix& weight) {
    return x.dtype() == kernels::HalfType::bf16 ? gemm_of<reference::Bf16>(x, weight)
                                                : gemm_of<reference::Fp16>(x, weight);
  };
}

std::unique_ptr<MlpPlace> make_host_place() { return std::make_unique<HostPlace>(); }

}  // namespace bitproof::conformance
