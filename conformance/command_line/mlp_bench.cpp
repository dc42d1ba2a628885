#include "conformance/command_line/mlp_bench.h"

#include <cstdint>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "conformance/command_line/exit_status.h"
#include "conformance/command_line/terminal.h"
#include "conformance/mlp/bench.h"
#include "conformance/mlp/configuration.h"
#include "kernels/elementwise_guard.h"

namespace bitproof::conformance {
namespace {

std::string text_of(const MlpShape& shape) {
  return fmt::format("{} x {} -> {} -> {}", shape.rows, shape.depth, shape.hidden, shape.columns);
}

void print_entry(const MlpShape& shape, reference::Dtype dtype, const MlpBenchEntry& entry) {
  fmt::print("{:<9} {:<5} {:>29}  {:<20} {:>10.2f} {:>8.4f}x of {:<20} {}\n", kMlpGelu, name(dtype),
             text_of(shape), entry.implementation, entry.times.median_us, entry.ratio, entry.against,
             entry.right_bits ? coloured("right", Ink::green, stdout) : coloured("WRONG", Ink::red, stdout));
}

nlohmann::ordered_json as_json(const MlpShape& shape, reference::Dtype dtype, const MlpBenchEntry& entry,
                               const CudaDevice& device) {
  return {{"operator", kMlpGelu},
          {"dtype", name(dtype)},
          {"implementation", entry.implementation},
          {"shape", {shape.rows, shape.depth, shape.hidden, shape.columns}},
          {"samples", entry.times.samples},
          {"median_us", entry.times.median_us},
          {"fastest_us", entry.times.fastest_us},
          {"slowest_us", entry.times.slowest_us},
          {"against", entry.against},
          {"ratio", entry.ratio},
          {"rows_compared", entry.rows_compared},
          {"right_bits", entry.right_bits},
          {"cublaslt", device.facts.cublaslt}};
}

}  // namespace

int bench_mlp_shapes(const std::vector<reference::Dtype>& dtypes, const CudaDevice& device,
                     nlohmann::ordered_json* entries) {
  bool all_right = true;
  if (entries == nullptr)
    fmt::print("\n{} ({}), cuBLASLt {}, medians of 31 alternating runs, CUDA events\n\n", device.facts.name,
               device.facts.architecture, device.facts.cublaslt);
  for (const reference::Dtype dtype : dtypes)
    for (const std::uint64_t rows : {kWanMlp.rows, std::uint64_t{32760}}) {
      MlpShape shape = kWanMlp;
      shape.rows = rows;
      try {
        for (const MlpBenchEntry& entry : bench_mlp(shape, dtype, device.id)) {
          all_right &= entry.right_bits;
          entries != nullptr ? entries->push_back(as_json(shape, dtype, entry, device))
                             : print_entry(shape, dtype, entry);
        }
      } catch (const kernels::Refused& refusal) {
        fmt::print(stderr, "bitproof: {}: not_run: {}\n", kMlpGelu, refusal.what());
        return kCouldNotRun;
      }
    }
  return all_right ? kPassed : kFailed;
}

}  // namespace bitproof::conformance
