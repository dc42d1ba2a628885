#include <algorithm>
#include <memory>
#include <span>
#include <utility>

#include "conformance/bench/event.h"
#include "conformance/comparison.h"
#include "conformance/mlp/bench.h"
#include "conformance/mlp/prediction.h"
#include "conformance/mlp/under_test.h"
#include "reference/linear/gemm.h"

namespace bitproof::conformance {
namespace {

using kernels::Quality;
using reference::Half;

constexpr int kRounds = 31;  // and one more that warms up
constexpr std::uint64_t kSeed = 1, kComparedRows = 64;

// A site in one quality.
template <Half T>
struct Contender {
  MlpBenchEntry entry;
  MlpUnderTest<T>& site;
  MlpConfiguration configuration;
  Quality quality;
  std::unique_ptr<kernels::Executor> executor;
  LaunchTimes times = LaunchTimes(kRounds + 1);

  void run(const kernels::Matrix& output) { site.run(output, quality, *executor); }
};

// In turns, so that drift of the clocks meets all.
template <Half T>
void time(std::span<Contender<T>> contenders, const kernels::Matrix& output, MlpPlace& place) {
  for (int round = 0; round <= kRounds; ++round)
    for (Contender<T>& contender : contenders) {
      const kernels::Request request = contender.site.begin(contender.quality);
      if (round == 0) contender.run(output);  // plans, memory and the first sight
      contender.times.take(place.stream(), [&] { contender.run(output); });
    }
  (void)place.fetch_output();
  for (Contender<T>& contender : contenders) contender.entry.times = summarise(contender.times.microseconds(1));
}

template <Half T>
std::vector<MlpBenchEntry> bench(const MlpShape& shape, int device_id) {
  const std::unique_ptr<MlpPlace> place = make_device_place(device_id, false);
  const auto operands = mlp_operands<T>(shape, kSeed);
  MlpUnderTest<T> dense(MlpConfiguration::high_epilogue, *operands, *place);
  MlpUnderTest<T> quantised(MlpConfiguration::high_nvfp4, *operands, *place);
  const auto contender = [&](const char* name, const char* against, MlpUnderTest<T>& site,
                             MlpConfiguration configuration, Quality quality) {
    Contender<T> result{.entry = {},
                        .site = site,
                        .configuration = configuration,
                        .quality = quality,
                        .executor = place->new_executor(kernels::log_to_standard_error)};
    result.entry.implementation = name;
    result.entry.against = against;
    return result;
  };
  std::vector<Contender<T>> contenders;
  contenders.push_back(
      contender("cuda.lossless", "cuda.lossless", dense, MlpConfiguration::lossless, Quality::lossless));
  contenders.push_back(
      contender("cuda.high_epilogue", "cuda.lossless", dense, MlpConfiguration::high_epilogue, Quality::high));
  contenders.push_back(contender("cuda.lossless_nvfp4", "cuda.lossless_nvfp4", quantised,
                                 MlpConfiguration::high_nvfp4, Quality::lossless));
  contenders.push_back(contender("cuda.high_nvfp4", "cuda.lossless_nvfp4", quantised,
                                 MlpConfiguration::high_nvfp4, Quality::high));
  time<T>(contenders, place->poisoned_output(shape.rows, shape.columns, T::kDtype), *place);

  // The same once more into a poisoned output: the times count for right bits only.
  const std::vector<std::size_t> rows = spread_row_numbers(shape.rows, std::min(kComparedRows, shape.rows));
  std::vector<MlpBenchEntry> entries;
  for (Contender<T>& c : contenders) {
    const kernels::Request request = c.site.begin(c.quality);
    c.run(place->poisoned_output(shape.rows, shape.columns, T::kDtype));
    const MlpOutput output = place->fetch_output();
    const std::vector<T> got = reference::gather_rows<T>(numbers_of<T>(output.bits), shape.columns, rows);
    c.entry.rows_compared = rows.size();
    c.entry.right_bits =
        got == predicted_rows<T>(c.configuration, *operands, kSeed, rows, reference::kPytorch211Cuda);
    entries.push_back(std::move(c.entry));
  }
  for (MlpBenchEntry& entry : entries)
    entry.ratio = entry.times.median_us /
                  std::ranges::find(entries, entry.against, &MlpBenchEntry::implementation)->times.median_us;
  return entries;
}

}  // namespace

std::vector<MlpBenchEntry> bench_mlp(const MlpShape& shape, reference::Dtype dtype, int device_id) {
  return reference::visit_dtype(dtype, [&]<Half T>() { return bench<T>(shape, device_id); });
}

}  // namespace bitproof::conformance
