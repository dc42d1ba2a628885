#include "conformance/bench/bench.h"

#include <algorithm>
#include <memory>

#include "conformance/bench/copy_kernel.h"
#include "conformance/bench/event.h"
#include "conformance/device/device_memory.h"
#include "conformance/elementwise/arena_kernels.h"
#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/expected.h"
#include "conformance/elementwise/implementation.h"
#include "reference/profile.h"

namespace bitproof::conformance {
namespace {

using kernels::cuda::check;

constexpr int kRounds = 6, kLaunchesPerRound = 10;  // 60 samples each, interleaved; one more round warms up
constexpr std::size_t kRotatedBytes = std::size_t{1} << 30;
constexpr std::size_t kMostBuffers = 16;

// Something that is timed: a launch from the tensors of a buffer into its output.
struct Contender {
  std::string name;
  std::function<void(const Tensors&, cudaStream_t)> launch;
  bool copies = false;
  std::vector<double> microseconds;
};

// Buffers of the same inputs, each with an output of its own.
class Buffers {
 public:
  Buffers(const BenchSubject& subject, const Case& c, int device_id, cudaStream_t stream)
      : placement_(place(c, subject.op.has_bias)) {
    const std::size_t bytes = placement_.arena_elements * sizeof(std::uint16_t);
    const std::size_t count = std::clamp<std::size_t>(kRotatedBytes / bytes, 1, kMostBuffers);
    for (std::size_t i = 0; i < count; ++i) {
      arenas_.push_back(std::make_unique<DeviceBuffer<std::uint16_t>>(placement_.arena_elements));
      fill_input(arenas_.back()->get(), placement_, c.source, stream);
      fill_bias(arenas_.back()->get(), placement_, c.source, stream);
      tensors_.push_back(std::make_unique<Tensors>(placement_, subject.op.has_bias, arenas_.back()->get(),
                                                   subject.dtype, DLDevice{kDLCUDA, device_id}));
    }
  }

  const Tensors& tensors(std::size_t i) const { return *tensors_[i % tensors_.size()]; }
  std::size_t count() const { return tensors_.size(); }

  std::uint64_t output_digest(std::size_t i, const Case& c, std::uint64_t seed, DeviceCounters<1>& counters,
                              const Stream& stream) const {
    counters.clear(stream);
    add_output_digest(arenas_[i]->get(), placement_, c.first_index, seed, counters.on_device(0), stream);
    counters.fetch(stream);
    stream.wait();
    return counters.fetched(0);
  }
  void poison(cudaStream_t stream) const {
    for (const auto& arena : arenas_) poison_output(arena->get(), placement_, stream);
  }
  // What a copy must produce: the digest of the inputs.
  std::uint64_t input_digest(const Case& c, std::uint64_t seed, DeviceCounters<1>& counters,
                             const Stream& stream) const {
    Placement of_input = placement_;
    of_input.output = placement_.input;
    counters.clear(stream);
    add_output_digest(arenas_[0]->get(), of_input, c.first_index, seed, counters.on_device(0), stream);
    counters.fetch(stream);
    stream.wait();
    return counters.fetched(0);
  }

 private:
  Placement placement_;
  std::vector<std::unique_ptr<DeviceBuffer<std::uint16_t>>> arenas_;
  std::vector<std::unique_ptr<Tensors>> tensors_;
};

std::uint16_t* data(const DLTensor& tensor) { return static_cast<std::uint16_t*>(tensor.data); }

std::vector<Contender> contenders(const BenchShape& shape) {
  std::vector<Contender> all;
  for (const ElementwiseImplementation& implementation : device_implementations())
    all.push_back({std::string(implementation.name), implementation.run, false, {}});
  const auto rows = static_cast<std::int64_t>(shape.rows), width = static_cast<std::int64_t>(shape.width);
  all.push_back({"copy kernel",
                 [rows, width](const Tensors& t, cudaStream_t stream) {
                   launch_copy(data(t.input), data(t.output), rows, width, stream);
                 },
                 true,
                 {}});
  const std::size_t bytes = shape.rows * shape.width * sizeof(std::uint16_t);
  all.push_back({"cudaMemcpyAsync",
                 [bytes](const Tensors& t, cudaStream_t stream) {
                   check(
                       cudaMemcpyAsync(data(t.output), data(t.input), bytes, cudaMemcpyDeviceToDevice, stream),
                       "cudaMemcpyAsync");
                 },
                 true,
                 {}});
  return all;
}

// One round: launches of one contender, each between two events, over the rotating buffers.
std::vector<double> time_round(const Contender& contender, const Buffers& buffers, const Stream& stream) {
  LaunchTimes times(kLaunchesPerRound);
  for (std::size_t i = 0; i < kLaunchesPerRound; ++i)
    times.take(stream, [&] { contender.launch(buffers.tensors(i), stream); });
  stream.wait();
  return times.microseconds();
}

BenchEntry entry_of(const BenchSubject& subject, const Contender& contender) {
  BenchEntry entry;
  entry.op = subject.op.name;
  entry.dtype = reference::name(subject.dtype);
  entry.implementation = contender.name;
  entry.shape = subject.shape;
  entry.times = summarise(contender.microseconds);
  entry.bytes_per_second =
      4e6 * static_cast<double>(subject.shape.rows * subject.shape.width) / entry.times.median_us;
  return entry;
}

template <reference::Half T>
std::uint64_t expected_digest(const BenchSubject& subject, const Case& c, std::uint64_t seed) {
  const reference::Profile& profile = reference::kPytorch211Cuda;
  const BlockOfDomain shape{.op = std::string(subject.op.name),
                            .dtype = std::string(name(subject.dtype)),
                            .profile = std::string(profile.name),
                            .domain = "bench, rows of " + std::to_string(c.width),
                            .total = c.elements(),
                            .seed = seed};
  return expected_for<T>(subject.op, profile)->digest(c, shape);
}

}  // namespace

std::vector<BenchEntry> bench_elementwise(const BenchSubject& subject, int device_id) {
  constexpr std::uint64_t kSeed = 1;
  const kernels::cuda::DeviceScope scope(device_id);
  const Stream stream;
  const Case c = plain_case(InputRule::activations, subject.op, subject.dtype, subject.shape.rows,
                            subject.shape.width, kSeed);
  const Buffers buffers(subject, c, device_id, stream);
  std::vector<Contender> all = contenders(subject.shape);

  for (int round = -1; round < kRounds; ++round)
    for (Contender& contender : all) {
      const std::vector<double> times = time_round(contender, buffers, stream);
      if (round >= 0) contender.microseconds.insert(contender.microseconds.end(), times.begin(), times.end());
    }

  DeviceCounters<1> counters;
  const std::uint64_t right = subject.dtype == reference::Dtype::bf16
                                  ? expected_digest<reference::Bf16>(subject, c, kSeed)
                                  : expected_digest<reference::Fp16>(subject, c, kSeed);
  const std::uint64_t copied = buffers.input_digest(c, kSeed, counters, stream);
  std::vector<BenchEntry> entries;
  for (Contender& contender : all) {
    BenchEntry entry = entry_of(subject, contender);
    // The same launches once more into poisoned outputs: the times count for right bits only.
    buffers.poison(stream);
    entry.right_bits = true;
    for (std::size_t i = 0; i < buffers.count(); ++i) {
      contender.launch(buffers.tensors(i), stream);
      entry.right_bits &=
          buffers.output_digest(i, c, kSeed, counters, stream) == (contender.copies ? copied : right);
    }
    entries.push_back(std::move(entry));
  }
  const auto median_of = [&](std::string_view name) {
    return std::ranges::find(entries, name, &BenchEntry::implementation)->times.median_us;
  };
  const double copy = median_of("copy kernel"), memcpy = median_of("cudaMemcpyAsync");
  for (BenchEntry& entry : entries) {
    entry.ratio_to_copy = entry.times.median_us / copy;
    entry.ratio_to_memcpy = entry.times.median_us / memcpy;
  }
  return entries;
}

}  // namespace bitproof::conformance
