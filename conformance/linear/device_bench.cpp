#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "conformance/bench/copy_kernel.h"
#include "conformance/bench/event.h"
#include "conformance/linear/device.h"
#include "conformance/linear/device_layer.h"
#include "conformance/linear/prediction.h"
#include "kernels/linear_gelu/linear_gelu.h"
#include "reference/linear/linear.h"

namespace bitproof::conformance {
namespace {

using kernels::cuda::check;
using reference::GemmShape;
using reference::Half;

// One more round warms up.
constexpr int kRounds = 51;
constexpr std::uint64_t kSeed = 1, kComparedRows = 128;

struct Contender {
  LinearBenchEntry entry;
  std::function<void(cudaStream_t)> launch;
  std::optional<LinearContract> contract;  // nothing: copies
  LaunchTimes times = LaunchTimes(kRounds + 1);
};

// The contenders take turns, so that drift of the clocks meets all.
void time(std::vector<Contender>& contenders, const Stream& stream) {
  for (int round = 0; round <= kRounds; ++round)
    for (Contender& contender : contenders) contender.times.take(stream, [&] { contender.launch(stream); });
  stream.wait();
  for (Contender& contender : contenders) contender.entry.times = summarise(contender.times.microseconds(1));
}

template <Half T>
std::vector<T> rows_of_output(const DeviceLayer<T>& layer, const GemmShape& shape,
                              const std::vector<BlockRange>& rows) {
  std::vector<T> outputs;
  for (const BlockRange& range : rows) {
    const std::size_t before = outputs.size(), count = (range.end - range.begin) * shape.columns;
    outputs.resize(before + count);
    check(cudaMemcpy(outputs.data() + before, layer.output_data() + range.begin * shape.columns,
                     count * sizeof(T), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
  }
  return outputs;
}

template <Half T>
std::vector<LinearBenchEntry> bench(const GemmShape& shape, int device_id) {
  const kernels::cuda::DeviceScope scope(device_id);
  const Stream stream;
  LinearCase c;
  c.shape = shape;
  c.rows = spread_rows(shape.rows, kComparedRows);
  c.bf16 = [shape] { return random_layer<reference::Bf16>(shape, OperandKind::activations, kSeed); };
  c.fp16 = [shape] { return random_layer<reference::Fp16>(shape, OperandKind::activations, kSeed); };
  const auto predicted = predicted_case<T>(
      c, {"bench", Location::device, kSeed, shape.rows << 40 ^ shape.columns << 20 ^ shape.depth});

  DeviceLayerMemory memory;
  const DeviceLayer<T> layer(predicted->layer, memory, device_id, stream);
  DeviceBuffer<std::uint16_t> copy(shape.rows * shape.columns);
  const auto path_of = [&](kernels::LinearGeluPath path, const LinearContract& contract) {
    auto prepared =
        std::make_shared<kernels::cuda::LinearGeluTanh>(path, layer.layer(), layer.x(), layer.output());
    Contender contender;
    contender.entry.implementation = kernels::name(path);
    contender.entry.algorithm = describe(prepared->algorithm());
    contender.launch = [prepared, &layer](cudaStream_t s) {
      (*prepared)(layer.layer(), layer.x(), layer.output(), s);
    };
    contender.contract = contract;
    return contender;
  };
  std::vector<Contender> contenders;
  contenders.push_back(
      path_of(kernels::LinearGeluPath::eager, LinearContract::eager(reference::kPytorch211Cuda)));
  contenders.push_back(
      path_of(kernels::LinearGeluPath::cublaslt, LinearContract::epilogue(reference::kPytorch211Cuda)));
  contenders.emplace_back();
  contenders.back().entry.implementation = "copy kernel";
  contenders.back().launch = [&](cudaStream_t s) {
    launch_copy(layer.output_data(), copy.get(), static_cast<std::int64_t>(shape.rows),
                static_cast<std::int64_t>(shape.columns), s);
  };
  time(contenders, stream);

  // The same launches once more into a poisoned output: the times count for right bits only.
  std::vector<T> last;
  for (Contender& contender : contenders) {
    LinearBenchEntry& entry = contender.entry;
    if (contender.contract) layer.poison(stream);
    contender.launch(stream);
    stream.wait();
    entry.rows_compared = c.tested_rows();
    if (contender.contract) {
      last = rows_of_output(layer, shape, c.rows);
      const ExpectedOutputs<T> expected(*contender.contract);
      entry.right_bits =
          std::ranges::equal(predicted->accumulators, last, {}, [&](float a) { return expected(a); });
    } else {
      std::vector<T> copied(last.size());
      std::size_t done = 0;
      for (const BlockRange& range : c.rows) {
        const std::size_t count = (range.end - range.begin) * shape.columns;
        check(cudaMemcpy(copied.data() + done, copy.get() + range.begin * shape.columns, count * sizeof(T),
                         cudaMemcpyDeviceToHost),
              "cudaMemcpy");
        done += count;
      }
      entry.right_bits = copied == last;
    }
  }

  const auto outputs = static_cast<double>(shape.rows) * static_cast<double>(shape.columns);
  const double flops = 2 * outputs * static_cast<double>(shape.depth);
  const double bytes = 2 * (outputs + static_cast<double>(predicted->layer.x.size() +
                                                          predicted->layer.weight.size() + shape.columns));
  const double copy_us = contenders.back().entry.times.median_us;
  std::vector<LinearBenchEntry> entries;
  for (Contender& contender : contenders) {
    LinearBenchEntry& entry = contender.entry;
    entry.bytes_per_second = 1e6 * (contender.contract ? bytes : 4 * outputs) / entry.times.median_us;
    entry.flops_per_second = contender.contract ? 1e6 * flops / entry.times.median_us : 0;
    entry.ratio_to_copy = entry.times.median_us / copy_us;
    entries.push_back(std::move(entry));
  }
  return entries;
}

}  // namespace

std::vector<LinearBenchEntry> bench_linear(const GemmShape& shape, reference::Dtype dtype, int device_id) {
  return reference::visit_dtype(dtype, [&]<Half T>() { return bench<T>(shape, device_id); });
}

}  // namespace bitproof::conformance
