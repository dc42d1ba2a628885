// Multiply-adds a second of the predicted GEMM: on one thread, which is the figure a core, and on all.
#include <random>
#include <vector>

#include <benchmark/benchmark.h>
#include <oneapi/tbb/global_control.h>
#include <oneapi/tbb/info.h>

#include "reference/linear/gemm.h"

namespace bitproof::reference {
namespace {

template <Half T>
std::vector<T> normal_numbers(std::size_t count, float deviation, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, deviation);
  std::vector<T> values;
  for (std::size_t i = 0; i < count; ++i) values.push_back(round_to<T>(normal(random)));
  return values;
}

// 256 rows of a layer from 3,072 to 512 features.
template <Half T>
void gemm_of_a_layer(benchmark::State& state) {
  const tbb::global_control limit(tbb::global_control::max_allowed_parallelism,
                                  static_cast<std::size_t>(state.range(0)));
  const GemmShape shape{.rows = 256, .columns = 512, .depth = 3072};
  const std::vector<T> x = normal_numbers<T>(shape.rows * shape.depth, 1.0f, 1);
  const std::vector<T> w = normal_numbers<T>(shape.columns * shape.depth, 0.02f, 2);
  for ([[maybe_unused]] auto iteration : state) benchmark::DoNotOptimize(gemm<T>(x, w, shape));
  const auto operations = static_cast<double>(shape.rows * shape.columns * shape.depth);
  state.counters["multiply_adds"] = benchmark::Counter(
      operations, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000);
}

const int kAllThreads = tbb::info::default_concurrency();

BENCHMARK(gemm_of_a_layer<Bf16>)->ArgName("threads")->Arg(1)->Arg(kAllThreads)->UseRealTime();
BENCHMARK(gemm_of_a_layer<Fp16>)->ArgName("threads")->Arg(1)->Arg(kAllThreads)->UseRealTime();

}  // namespace
}  // namespace bitproof::reference
