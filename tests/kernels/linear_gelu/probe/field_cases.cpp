#include <cstdint>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "tests/kernels/linear_gelu/probe/comparison.h"
#include "tests/kernels/linear_gelu/probe/experiments.h"
#include "tests/kernels/linear_gelu/probe/layer.h"
#include "tests/kernels/linear_gelu/probe/operands.h"

namespace bitproof::probe {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;

// Runs the layer on both paths against the predictions. Outputs hold NaNs before the call, so that a path that
// reads them (beta = 0 multiplied, not ignored) is wrong everywhere.
template <Half T>
bool run_case(std::string_view what, const HostLayer<T>& host) {
  const DeviceOutputs<T> outputs = DeviceLayer<T>(host).run();
  const Comparison comparison =
      compare<T>(reference::biased_accumulators(host.operands()), outputs.eager, outputs.fused, 0);
  fmt::print("  {} {}: {}\n", reference::name(T::kDtype), what, describe(comparison));
  return comparison.passed() && outputs.guard_violations == 0;
}

template <Half T>
HostLayer<T> empty_layer(std::size_t rows, std::size_t columns, std::size_t depth) {
  return {.shape = {rows, columns, depth},
          .x = std::vector<T>(rows * depth),
          .weight = std::vector<T>(columns * depth),
          .bias = std::vector<T>(columns)};
}

template <Half T>
bool run_one_output(std::string_view what, std::vector<float> x, std::vector<float> weight, float bias,
                    std::uint16_t expected) {
  HostLayer<T> host = empty_layer<T>(1, 8, 8);
  for (std::size_t k = 0; k < x.size(); ++k) {
    host.x[k] = reference::round_to<T>(x[k]);
    host.weight[k] = reference::round_to<T>(weight[k]);
  }
  host.bias[0] = reference::round_to<T>(bias);
  const DeviceOutputs<T> outputs = DeviceLayer<T>(host).run();
  const bool right = outputs.eager[0].bits == expected && outputs.fused[0].bits == expected;
  fmt::print("  {} {}: eager {:04X}, fused {:04X}, expected {:04X}\n", reference::name(T::kDtype), what,
             outputs.eager[0].bits, outputs.fused[0].bits, expected);
  return run_case<T>(what, host) && right;
}

bool run_bias_only() {
  HostLayer<Fp16> host = empty_layer<Fp16>(8, 8, 8);
  for (std::size_t column = 0; column < 8; ++column)
    host.bias[column] = reference::round_to<Fp16>(static_cast<float>(column + 1));
  const std::uint16_t expected[] = {0x3ABB, 0x3FD2, 0x41FE, 0x4400, 0x4500, 0x4600, 0x4700, 0x4800};
  const DeviceOutputs<Fp16> outputs = DeviceLayer<Fp16>(host).run();
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < outputs.eager.size(); ++i)
    wrong += outputs.eager[i].bits != expected[i % 8] || outputs.fused[i].bits != expected[i % 8];
  fmt::print("  fp16 bias 1 to 8, x = 0: {} of 64 wrong\n", wrong);
  return run_case<Fp16>("bias 1 to 8, x = 0", host) && wrong == 0;
}

// Whether a row's bits depend on how many rows there are.
template <Half T>
bool run_row_counts() {
  constexpr std::size_t kCounts[] = {1, 2, 17, 33, 128, 257, 1024};
  const HostLayer<T> all = make_layer<T>({1024, 3072, 3072}, Data::normal, 99);
  const DeviceOutputs<T> reference_run = DeviceLayer<T>(all).run();
  bool predicted = true;
  for (const std::size_t rows : kCounts) {
    HostLayer<T> host = all;
    host.shape.rows = rows;
    host.x.resize(rows * host.shape.depth);
    const DeviceOutputs<T> outputs = DeviceLayer<T>(host).run();
    std::uint64_t eager = 0, fused = 0;
    for (std::size_t i = 0; i < outputs.eager.size(); ++i) {
      eager += outputs.eager[i] != reference_run.eager[i];
      fused += outputs.fused[i] != reference_run.fused[i];
    }
    fmt::print("  {} {} rows: eager {}, fused {} elements differ from the run with 1024 rows; {}\n",
               reference::name(T::kDtype), rows, eager, fused, describe(outputs.fused_algorithm));
    predicted = predicted && eager == 0 && fused == 0;
  }
  return run_case<T>("1024 rows", all) && predicted;
}

template <Half T>
bool run_dtype() {
  bool predicted = run_case<T>("depth 0, padded to 8", empty_layer<T>(16, 16, 8));
  predicted = run_case<T>("one row", make_layer<T>({1, 3072, 3072}, Data::normal, 1)) && predicted;
  // One column, padded to eight with zero weights and bias.
  HostLayer<T> column = make_layer<T>({512, 8, 3072}, Data::normal, 2);
  std::fill(column.weight.begin() + 3072, column.weight.end(), T{0});
  std::fill(column.bias.begin() + 1, column.bias.end(), T{0});
  predicted = run_case<T>("one column, padded to 8", column) && predicted;
  for (const Data data : kAllData)
    predicted = run_case<T>(name(data), make_layer<T>({77, 264, 1096}, data, 3)) && predicted;
  return run_row_counts<T>() && predicted;
}

}  // namespace

bool run_field_cases() {
  fmt::print("cases from the field\n");
  bool predicted = run_bias_only();
  predicted = run_one_output<Bf16>("[1, 2^-4] squared + 2^-8", {1, 0x1p-4f}, {1, 0x1p-4f}, 0x1p-8f, 0x3F5A) &&
              predicted;
  predicted = run_one_output<Fp16>("256 * 256 - 65504", {256}, {256}, -65504, 0x5000) && predicted;
  predicted = run_dtype<Bf16>() && predicted;
  return run_dtype<Fp16>() && predicted;
}

}  // namespace bitproof::probe
