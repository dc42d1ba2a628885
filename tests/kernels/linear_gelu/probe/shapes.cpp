#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <numeric>
#include <span>
#include <vector>

#include <fmt/format.h>

#include "conformance/digest.h"
#include "tests/kernels/linear_gelu/probe/comparison.h"
#include "tests/kernels/linear_gelu/probe/experiments.h"
#include "tests/kernels/linear_gelu/probe/layer.h"
#include "tests/kernels/linear_gelu/probe/operands.h"
#include "tests/kernels/linear_gelu/probe/production_shapes.h"

namespace bitproof::probe {
namespace {

using kernels::cuda::LinearEpilogue;
using kernels::cuda::LinearPlan;
using kernels::cuda::SplitPolicy;
using reference::Bf16;
using reference::Fp16;
using reference::GemmShape;
using reference::Half;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

// 1 to 1,024 rows, 8 to 1,024 columns and 8 to 2,048 deep, the latter two multiples of 8. Extreme data, which
// the reference predicts lane by lane, gets fewer rows.
GemmShape random_shape(std::uint64_t number, Data data) {
  const std::uint64_t random = conformance::mix64(number);
  const bool extreme = data == Data::large || data == Data::subnormal || data == Data::non_finite;
  return {.rows = 1 + random % (extreme ? 64 : 1024),
          .columns = 8 * (1 + (random >> 16) % 128),
          .depth = 8 * (1 + (random >> 32) % 256)};
}

// The library's own choice against the prediction for its split count.
struct DefaultChoice {
  std::map<int, int> shapes_by_splits;
  std::uint64_t tested = 0, differing = 0;
};

template <Half T>
void run_default_choice(const HostLayer<T>& host, DeviceLayer<T>& device, DefaultChoice& result) {
  const LinearPlan plan(
      {.rows = static_cast<std::int64_t>(host.shape.rows),
       .columns = static_cast<std::int64_t>(host.shape.columns),
       .depth = static_cast<std::int64_t>(host.shape.depth),
       .dtype = T::kDtype == reference::Dtype::bf16 ? kernels::HalfType::bf16 : kernels::HalfType::fp16,
       .epilogue = LinearEpilogue::gelu_bias,
       .splits = SplitPolicy::library_default});
  const int splits = std::max(plan.algorithm().splits, 1);
  ++result.shapes_by_splits[splits];
  const std::vector<T> got = device.run_fused(plan);
  const std::vector<T> expected = reference::linear_gelu_epilogue(host.operands(splits));
  std::uint64_t differing = 0;
  for (std::size_t i = 0; i < got.size(); ++i) differing += got[i] != expected[i];
  result.tested += got.size();
  result.differing += differing;
  if (differing != 0)
    fmt::print("    default choice at [{}, {}] x [{}, {}]^T: {} of {} differ; {}\n", host.shape.rows,
               host.shape.depth, host.shape.columns, host.shape.depth, differing, got.size(),
               describe(plan.algorithm()));
}

template <Half T>
bool run_random_shapes_of(int shapes) {
  Comparison total;
  DefaultChoice default_choice;
  std::uint64_t guards = 0;
  int shapes_predicted = 0;
  for (int i = 0; i < shapes; ++i) {
    const Data data = kAllData[static_cast<std::size_t>(i) % std::size(kAllData)];
    const GemmShape shape = random_shape(static_cast<std::uint64_t>(i), data);
    const HostLayer<T> host = make_layer<T>(shape, data, static_cast<std::uint64_t>(i));
    DeviceLayer<T> device(host);
    const DeviceOutputs<T> outputs = device.run();
    const Comparison one =
        compare<T>(reference::biased_accumulators(host.operands()), outputs.eager, outputs.fused, 0);
    if (one.passed()) {
      ++shapes_predicted;
    } else {
      fmt::print("    [{}, {}] x [{}, {}]^T, {}: {}; {}\n", shape.rows, shape.depth, shape.columns, shape.depth,
                 name(data), describe(one), describe(outputs.fused_algorithm));
    }
    guards += outputs.guard_violations;
    total += one;
    run_default_choice(host, device, default_choice);
  }
  fmt::print("  {}: {} of {} shapes predicted; {}; guard bands overwritten: {}\n", reference::name(T::kDtype),
             shapes_predicted, shapes, describe(total), guards);
  fmt::print("    the library's own choice with GELU_BIAS: {} tested, {} differ; shapes by split count:",
             default_choice.tested, default_choice.differing);
  for (const auto& [splits, count] : default_choice.shapes_by_splits) fmt::print(" {}: {}", splits, count);
  fmt::print("\n");
  return total.passed() && guards == 0 && default_choice.differing == 0;
}

// The numbers of `count` blocks so that every prefix covers the range evenly.
std::vector<std::size_t> spread(std::size_t count) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // Bit reversal: the first half comes from every other pair, and so on.
  const auto reversed = [](std::size_t value) {
    std::uint32_t result = 0;
    for (int bit = 0; bit < 32; ++bit) result |= static_cast<std::uint32_t>(value >> bit & 1) << (31 - bit);
    return result;
  };
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return reversed(a) < reversed(b); });
  return order;
}

template <Half T>
bool run_production_shape(const GemmShape& shape, double seconds) {
  constexpr std::size_t kBlockRows = 1024, kLeastRows = 4096;
  const HostLayer<T> host = make_layer<T>(shape, Data::normal, 7);
  const DeviceOutputs<T> outputs = DeviceLayer<T>(host).run();

  const auto start = std::chrono::steady_clock::now();
  Comparison total;
  std::size_t rows_done = 0;
  for (const std::size_t block : spread((shape.rows + kBlockRows - 1) / kBlockRows)) {
    if (rows_done >= kLeastRows && seconds_since(start) > seconds) break;
    const std::size_t row = block * kBlockRows, rows = std::min(kBlockRows, shape.rows - row);
    reference::LinearOperands<T> operands = host.operands();
    operands.x = operands.x.subspan(row * shape.depth, rows * shape.depth);
    operands.shape.rows = rows;
    const std::span<const T> eager(outputs.eager), fused(outputs.fused);
    const std::size_t first = row * shape.columns, count = rows * shape.columns;
    total += compare<T>(reference::biased_accumulators(operands), eager.subspan(first, count),
                        fused.subspan(first, count), first);
    rows_done += rows;
  }
  const double taken = seconds_since(start);
  fmt::print(
      "  {} ({}, {} -> {}): {}/{} rows predicted in {:.1f} s ({:.1f} giga-multiply-adds a second); {}; guard "
      "bands "
      "overwritten: {}\n",
      reference::name(T::kDtype), shape.rows, shape.depth, shape.columns, rows_done, shape.rows, taken,
      1e-9 * static_cast<double>(rows_done * shape.columns * shape.depth) / taken, describe(total),
      outputs.guard_violations);
  fmt::print("    eager: {}\n    fused: {}\n{}", describe(outputs.eager_algorithm),
             describe(outputs.fused_algorithm), describe_causes(total));
  return total.passed() && outputs.guard_violations == 0;
}

}  // namespace

bool run_random_shapes(int shapes_per_dtype) {
  fmt::print("random aligned shapes\n");
  const bool bf16 = run_random_shapes_of<Bf16>(shapes_per_dtype);
  return run_random_shapes_of<Fp16>(shapes_per_dtype) && bf16;
}

bool run_production_shapes(double seconds_per_shape) {
  fmt::print("production shapes\n");
  bool predicted = true;
  for (const GemmShape& shape : kProductionShapes) {
    predicted = run_production_shape<Bf16>(shape, seconds_per_shape) && predicted;
    predicted = run_production_shape<Fp16>(shape, seconds_per_shape) && predicted;
  }
  return predicted;
}

}  // namespace bitproof::probe
