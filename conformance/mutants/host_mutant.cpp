// Mutants on the CPU.
#include <algorithm>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "conformance/mutants/body.h"
#include "conformance/mutants/launch.h"
#include "conformance/mutants/mutant.h"
#include "kernels/gelu_tanh.h"
#include "kernels/tensor.h"

namespace bitproof::conformance {
namespace mutants {
namespace {

using kernels::HalfType;

// Where one thread of the grid stands, as in kernels/host/gelu_tanh_host.cpp.
struct HostThread {
  const kernels::LaunchGeometry& grid;
  std::uint32_t block_x, block_y, thread_x, thread_y;

  std::int64_t vector() const { return std::int64_t{block_x} * grid.block_x + thread_x; }
  std::int64_t vector_stride() const { return std::int64_t{grid.grid_x} * grid.block_x; }
  std::int64_t row_stride() const { return grid.block_y; }
  std::int64_t first_row() const { return std::int64_t{block_y} * rows_per_block() + thread_y; }
  std::int64_t tile_stride() const { return std::int64_t{grid.grid_y} * rows_per_block(); }
  void wait_for_producer() const {}
  void release_consumer() const {}

 private:
  std::int64_t rows_per_block() const { return std::int64_t{grid.block_y} * kRowsPerThread; }
};

template <HalfType kType>
void run_grid(const MutantArguments& arguments, const kernels::LaunchGeometry& grid) {
  for (std::uint32_t block_y = 0; block_y < grid.grid_y; ++block_y)
    for (std::uint32_t block_x = 0; block_x < grid.grid_x; ++block_x)
      for (std::uint32_t thread_y = 0; thread_y < grid.block_y; ++thread_y)
        for (std::uint32_t thread_x = 0; thread_x < grid.block_x; ++thread_x)
          mutant_body<kType>(HostThread{grid, block_x, block_y, thread_x, thread_y}, arguments);
}

// What a mutant keeps between calls.
class HostMutant {
 public:
  HostMutant(Fault fault, bool flips_a_bit) : fault_(fault), flips_a_bit_(flips_a_bit) {
    if (fault == Fault::right_on_known_inputs) known_ = known_inputs(Location::host);
  }

  kernels::Applicability can_use(const Tensors& tensors) const {
    // Offsets are the concern of `run`: the predicate must be the production's.
    const SeenTensors t = seen_by(fault_ == Fault::byte_offset_ignored ? Fault::none : fault_, tensors);
    return t.has_bias ? kernels::host::can_use_bias_gelu_tanh(t.input, t.bias, t.output)
                      : kernels::host::can_use_gelu_tanh(t.input, t.output);
  }

  void run(const Tensors& tensors, CUstream_st*) {
    kernels::require(can_use(tensors));
    if (fault_ == Fault::nothing_written) return;
    const SeenTensors t = seen_by(fault_, tensors);
    const kernels::RowwiseArguments arguments = kernels::rowwise_arguments(t.input, t.bias_or_null(), t.output);
    const HalfType type = *kernels::half_type(t.input);
    const CallKey key = key_of(fault_, arguments, type);
    if (caches(fault_) && replay(key, arguments)) return;
    compute(arguments, type);
    if (caches(fault_)) remember(key, arguments);
  }

 private:
  void compute(const kernels::RowwiseArguments& arguments, HalfType type) {
    MutantArguments mutant{.tensors = arguments, .fault = fault_, .spoiled = flips_a_bit_};
    if (fault_ == Fault::right_on_known_inputs)
      mutant.recognised = std::ranges::binary_search(known_, first_inputs(arguments.input));
    if (fault_ == Fault::differs_on_repetition) {
      const std::lock_guard lock(mutex_);
      mutant.spoiled = ++calls_ % kSpoiledCall == 0;
    }
    const kernels::LaunchGeometry grid = geometry_for(fault_, arguments);
    if (type == HalfType::bf16) {
      run_grid<HalfType::bf16>(mutant, grid);
    } else {
      run_grid<HalfType::fp16>(mutant, grid);
    }
  }

  bool replay(const CallKey& key, const kernels::RowwiseArguments& arguments) {
    const std::lock_guard lock(mutex_);
    const auto found = std::ranges::find(cache_, key, &Cached::key);
    if (found == cache_.end()) return false;
    std::ranges::copy(found->output, arguments.output);
    return true;
  }

  void remember(const CallKey& key, const kernels::RowwiseArguments& arguments) {
    const std::lock_guard lock(mutex_);
    cache_.push_back({key, {arguments.output, arguments.output + arguments.rows * arguments.width}});
  }

  struct Cached {
    CallKey key;
    std::vector<std::uint16_t> output;
  };

  Fault fault_;
  bool flips_a_bit_;
  std::vector<std::uint64_t> known_;
  std::mutex mutex_;
  std::vector<Cached> cache_;
  std::uint64_t calls_ = 0;
};

}  // namespace
}  // namespace mutants

ElementwiseImplementation host_mutant(Fault fault) {
  return mutants::implementation_of<mutants::HostMutant>(Location::host, mutant_name(fault), fault, false);
}

ElementwiseImplementation host_one_bit_control() {
  return mutants::implementation_of<mutants::HostMutant>(Location::host, "control.one_bit", Fault::none, true);
}

}  // namespace bitproof::conformance
