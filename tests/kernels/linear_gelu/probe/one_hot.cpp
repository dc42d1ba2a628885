#include <cstdint>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "conformance/comparison.h"
#include "tests/kernels/linear_gelu/probe/comparison.h"
#include "tests/kernels/linear_gelu/probe/experiments.h"
#include "tests/kernels/linear_gelu/probe/layer.h"

namespace bitproof::probe {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;

constexpr std::size_t kValues = 65536, kColumns = 8, kDepth = 16;

// Row i: the value with bits i, then zeros. Column j: 1, then zeros; so every output of row i is f(value i).
template <Half T>
HostLayer<T> one_hot_layer() {
  HostLayer<T> layer{.shape = {kValues, kColumns, kDepth},
                     .x = std::vector<T>(kValues * kDepth),
                     .weight = std::vector<T>(kColumns * kDepth),
                     .bias = std::vector<T>(kColumns)};
  for (std::size_t i = 0; i < kValues; ++i) layer.x[i * kDepth] = T{static_cast<std::uint16_t>(i)};
  for (std::size_t j = 0; j < kColumns; ++j) layer.weight[j * kDepth] = reference::round_to<T>(1.0f);
  return layer;
}

template <Half T>
std::vector<T> recorded_table(const std::filesystem::path& path) {
  std::vector<T> table(kValues);
  std::ifstream file(path, std::ios::binary);
  file.read(reinterpret_cast<char*>(table.data()), static_cast<std::streamsize>(kValues * sizeof(T)));
  if (!file) throw std::runtime_error(path.string() + ": cannot be read, or is shorter than 65,536 values");
  return table;
}

template <Half T>
bool run_dtype(const std::filesystem::path& oracles) {
  const std::string dtype(reference::name(T::kDtype));
  const HostLayer<T> host = one_hot_layer<T>();
  const DeviceOutputs<T> outputs = DeviceLayer<T>(host).run();
  const Comparison comparison =
      compare<T>(reference::biased_accumulators(host.operands()), outputs.eager, outputs.fused, 0);
  fmt::print("  {}: {}; guard bands overwritten: {}\n", dtype, describe(comparison), outputs.guard_violations);

  const std::vector<T> eager_table = recorded_table<T>(oracles / ("gelu_tanh_" + dtype + ".bin"));
  const std::vector<T> fused_table = recorded_table<T>(oracles / ("cublaslt_gelu_epilogue_" + dtype + ".bin"));
  std::uint64_t finite = 0, eager_differs = 0, fused_differs = 0;
  std::uint64_t zero_signs = 0, values = 0;
  for (std::size_t i = 0; i < kValues; ++i) {
    const T input{static_cast<std::uint16_t>(i)};
    const T eager = outputs.eager[i * kColumns], fused = outputs.fused[i * kColumns];
    // The accumulator of -0 is +0.
    eager_differs += eager != eager_table[reference::magnitude_bits(input) == 0 ? 0 : i];
    if (!reference::is_finite(input)) continue;
    ++finite;
    fused_differs += fused != fused_table[i];
    const conformance::Difference difference = conformance::difference(eager_table[i], fused);
    zero_signs += difference == conformance::Difference::zero_sign;
    values += difference != conformance::Difference::none && difference != conformance::Difference::zero_sign;
  }
  fmt::print("    eager against the recorded table: {} of {} differ\n", eager_differs, kValues);
  fmt::print("    epilogue against the recorded table: {} of {} finite inputs differ\n", fused_differs, finite);
  fmt::print("    epilogue against recorded eager GELU of the same finite input: {} signs of zero, {} others\n",
             zero_signs, values);
  return comparison.passed() && outputs.guard_violations == 0 && eager_differs == 0 && fused_differs == 0;
}

}  // namespace

bool run_one_hot(const std::filesystem::path& oracles) {
  fmt::print("one-hot: all 65,536 values as accumulators\n");
  const bool bf16 = run_dtype<Bf16>(oracles);
  return run_dtype<Fp16>(oracles) && bf16;
}

}  // namespace bitproof::probe
