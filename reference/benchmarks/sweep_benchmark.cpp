// What a sweep costs: pairs (or values) a second, for one thread and for all of them.
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <benchmark/benchmark.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include "reference/bulk.h"
#include "reference/operators.h"
#include "reference/rounded_add.h"

namespace {

using namespace bitproof::reference;

constexpr std::size_t kValues = 1u << 16;

template <Half T>
std::vector<T> all_values() {
  std::vector<T> values(kValues);
  for (std::size_t i = 0; i < kValues; ++i) values[i] = T{static_cast<std::uint16_t>(i)};
  return values;
}

void count_items(benchmark::State& state, std::size_t per_iteration) {
  state.SetItemsProcessed(static_cast<std::int64_t>(state.iterations()) *
                          static_cast<std::int64_t>(per_iteration));
}

template <Half T>
void ScalarGeluTanh(benchmark::State& state) {
  const std::vector<T> values = all_values<T>();
  for (auto _ : state) {
    for (const T x : values) benchmark::DoNotOptimize(gelu_tanh(x, kPytorch211Cuda));
  }
  count_items(state, kValues);
}

// One row of the domain of pairs per iteration, on one thread: x + bias for all biases.
template <Half T, class Row>
void sweep_rows(benchmark::State& state, Row row) {
  const std::vector<T> bias = all_values<T>();
  std::vector<T> out(kValues);
  std::uint16_t x = 0;
  for (auto _ : state) {
    row(T{x}, std::span<const T>(bias), std::span<T>(out));
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
    x = static_cast<std::uint16_t>(x + 40503);  // visits all values in a scattered order
  }
  count_items(state, kValues);
}

template <Half T>
void RowAddRounded(benchmark::State& state) {
  sweep_rows<T>(state, [](T x, std::span<const T> bias, std::span<T> out) { add_rounded<T>(x, bias, out); });
}

template <Half T>
void RowAddRoundedInteger(benchmark::State& state) {
  sweep_rows<T>(state,
                [](T x, std::span<const T> bias, std::span<T> out) { add_rounded_integer<T>(x, bias, out); });
}

template <Half T>
void RowBiasGeluTanh(benchmark::State& state) {
  const UnaryMap<T> map = gelu_tanh_map<T>(kPytorch211Cuda);
  sweep_rows<T>(state,
                [&map](T x, std::span<const T> bias, std::span<T> out) { map.apply_to_sums(x, bias, out); });
}

// All threads, 256 rows per iteration, memory traffic included.
template <Half T>
void BulkBiasGeluTanh(benchmark::State& state) {
  constexpr std::size_t kRows = 256;
  const std::vector<T> bias = all_values<T>();
  std::vector<T> x(kRows * kValues);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = T{static_cast<std::uint16_t>(i / kValues * 257)};
  std::vector<T> out(x.size());
  for (auto _ : state) {
    bias_gelu_tanh<T>(x, bias, out, kPytorch211Cuda);
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_items(state, x.size());
}

// All threads, as a sweep over all pairs runs: every thread computes rows into a buffer of its own.
template <Half T>
void SweepBiasGeluTanh(benchmark::State& state) {
  constexpr std::size_t kRows = 1024;
  const UnaryMap<T> map = gelu_tanh_map<T>(kPytorch211Cuda);
  const std::vector<T> bias = all_values<T>();
  tbb::enumerable_thread_specific<std::vector<T>> buffers(kValues);
  for (auto _ : state) {
    tbb::parallel_for(std::size_t{0}, kRows, [&](std::size_t row) {
      std::vector<T>& out = buffers.local();
      map.apply_to_sums(T{static_cast<std::uint16_t>(row * 64 + 1)}, bias, out);
      benchmark::DoNotOptimize(out.data());
      benchmark::ClobberMemory();
    });
  }
  count_items(state, kRows * kValues);
}

BENCHMARK_TEMPLATE(ScalarGeluTanh, Bf16);
BENCHMARK_TEMPLATE(ScalarGeluTanh, Fp16);
BENCHMARK_TEMPLATE(RowAddRounded, Bf16);
BENCHMARK_TEMPLATE(RowAddRounded, Fp16);
BENCHMARK_TEMPLATE(RowAddRoundedInteger, Bf16);
BENCHMARK_TEMPLATE(RowAddRoundedInteger, Fp16);
BENCHMARK_TEMPLATE(RowBiasGeluTanh, Bf16);
BENCHMARK_TEMPLATE(RowBiasGeluTanh, Fp16);
BENCHMARK_TEMPLATE(SweepBiasGeluTanh, Bf16)->UseRealTime();
BENCHMARK_TEMPLATE(SweepBiasGeluTanh, Fp16)->UseRealTime();
BENCHMARK_TEMPLATE(BulkBiasGeluTanh, Bf16)->UseRealTime();
BENCHMARK_TEMPLATE(BulkBiasGeluTanh, Fp16)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
