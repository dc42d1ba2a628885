// An elementwise check on a GPU. The device makes the inputs and the digests of what the kernel wrote, the CPU
// meanwhile the digest of what it should have written; a block whose digests differ is fetched and compared
// element by element.
#include <algorithm>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include "conformance/device/device_memory.h"
#include "conformance/elementwise/arena_kernels.h"
#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/first_wrong_block.h"
#include "conformance/mutants/diagnosis.h"
#include "kernels/cuda/device.h"
#include "reference/environment.h"

namespace bitproof::conformance {
namespace {

using kernels::cuda::check;
using reference::Half;

constexpr unsigned kProducerDelay = 20;  // milliseconds
constexpr int kRepetitions = 100;
constexpr std::size_t kDigest = 0, kOverwritten = 1, kFirstFromEnd = 2;  // counters

class CapturedGraph {
 public:
  template <class Launch>
  CapturedGraph(cudaStream_t stream, Launch&& launch) {
    check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
    cudaGraph_t graph = nullptr;
    try {
      launch();
    } catch (...) {
      (void)cudaStreamEndCapture(stream, &graph);
      (void)cudaGraphDestroy(graph);
      throw;
    }
    check(cudaStreamEndCapture(stream, &graph), "cudaStreamEndCapture");
    const cudaError_t instantiated = cudaGraphInstantiate(&executable_, graph, 0);
    (void)cudaGraphDestroy(graph);
    check(instantiated, "cudaGraphInstantiate");
  }
  ~CapturedGraph() { (void)cudaGraphExecDestroy(executable_); }
  CapturedGraph(const CapturedGraph&) = delete;
  CapturedGraph& operator=(const CapturedGraph&) = delete;

  void replay(cudaStream_t stream) const { check(cudaGraphLaunch(executable_, stream), "cudaGraphLaunch"); }

 private:
  cudaGraphExec_t executable_ = nullptr;
};

template <Half T>
class DeviceCheck final : public Check {
 public:
  DeviceCheck(const ElementwiseSubject& subject, int device_id)
      : subject_(subject),
        device_id_(device_id),
        scope_(device_id),
        expected_(expected_for<T>(subject.op, subject.profile)) {}

  Record plan() const override { return subject_.identity; }
  bool concurrent_blocks() const override { return false; }

  Record run_block(std::uint64_t block) override {
    reference::require_environment();
    const Case c = subject_.domain.make_case(block);
    Record record = run_case(c, block);
    if (record.first && explains(block))
      shrink_first(subject_, record, [this](const Case& other) { return run_case(other, kNoBlock); });
    return record;
  }

 private:
  bool explains(std::uint64_t wrong_block) { return subject_.explain && first_wrong_.is(wrong_block); }

  Record run_case(const Case& c, std::uint64_t block) {
    if (c.after_other_inputs) (void)run_case(with_other_inputs(c), kNoBlock);
    const Launched launched{c, place(c, subject_.op.has_bias)};
    arena_ = memory_.reserve(launched.placement.arena_elements);
    const Tensors tensors(launched.placement, subject_.op.has_bias, arena_, subject_.dtype,
                          DLDevice{kDLCUDA, device_id_});

    const std::optional<kernels::Applicability> answer = predicted(subject_.implementation, tensors);
    poison_arena(arena_, launched.placement.arena_elements, stream_);
    counters_.clear(stream_);
    try {
      launch(launched, tensors, block);
    } catch (const kernels::Refused& refusal) {
      return after_refusal(launched, block, answer, refusal.what());
    }
    if (answer && !*answer)
      return failed_block_record(subject_, block, Verdict::error,
                                 "the predicate refuses (" + answer->reason + ") but the kernel ran");
    return after_run(launched, block);
  }

  struct Launched {
    Case c;
    Placement placement;
  };

  void fill(const Launched& launched, const InputSource& source) {
    fill_input(arena_, launched.placement, source, stream_);
    fill_bias(arena_, launched.placement, source, stream_);
  }

  void run(const Tensors& tensors) { subject_.implementation.run(tensors, stream_); }

  // The first launch of a kernel loads its code and may wait for the whole device (CUDA C++ Programming Guide,
  // "Lazy loading"): it would run after any producer. So a first launch goes ahead, and its traces are
  // poisoned.
  void load_code(const Launched& launched, const Tensors& tensors) {
    fill(launched, launched.c.source);
    run(tensors);
    stream_.wait();
    poison_arena(arena_, launched.placement.arena_elements, stream_);
    stream_.wait();
  }

  // Puts inputs and the launch under test into the stream, as the case's layout says.
  void launch(const Launched& launched, const Tensors& tensors, std::uint64_t block) {
    const InputSource& source = launched.c.source;
    switch (launched.c.layout.launch) {
      case Launch::plain:
        fill(launched, source);
        run(tensors);
        return;
      case Launch::delayed_producer:
        load_code(launched, tensors);
        delay(kProducerDelay, stream_);
        fill(launched, source);
        run(tensors);
        return;
      case Launch::late_bias:
        load_code(launched, tensors);
        fill_input(arena_, launched.placement, source, stream_);
        fill_bias_late(arena_, launched.placement, source, stream_);
        run(tensors);
        return;
      case Launch::graph_replay: {
        load_code(launched, tensors);  // which cannot be done during a capture
        InputSource other = source;
        other.seed = ~other.seed;
        fill(launched, other);
        const CapturedGraph graph(stream_, [&] { run(tensors); });
        graph.replay(stream_);
        fill(launched, source);
        poison_output(arena_, launched.placement, stream_);
        graph.replay(stream_);
        stream_.wait();  // the graph must outlive its replay
        return;
      }
      case Launch::repeated:
        fill(launched, source);
        repeat(launched, tensors, block);
        return;
    }
  }

  // Stops at the first repetition with wrong bits and leaves its output to be compared.
  void repeat(const Launched& launched, const Tensors& tensors, std::uint64_t block) {
    const std::uint64_t right = expected_digest(launched, block);
    for (int i = 0; i < kRepetitions; ++i) {
      poison_output(arena_, launched.placement, stream_);
      run(tensors);
      if (output_digest(launched) != right) break;
    }
    counters_.clear(stream_);
  }

  std::uint64_t output_digest(const Launched& launched) {
    counters_.clear(stream_);
    add_output_digest(arena_, launched.placement, launched.c.first_index, subject_.identity.seed,
                      counters_.on_device(kDigest), stream_);
    counters_.fetch(stream_);
    stream_.wait();
    return counters_.fetched(kDigest);
  }

  std::uint64_t expected_digest(const Launched& launched, std::uint64_t block) {
    if (block == kNoBlock) return expected_->compute_digest(launched.c, subject_.identity.seed);
    return expected_->digest(launched.c, BlockOfDomain::of(subject_.identity, block));
  }

  void find_overwritten(const Launched& launched, bool output_may_change) {
    add_overwritten(arena_, launched.placement, launched.c.source, output_may_change,
                    {counters_.on_device(kOverwritten), counters_.on_device(kFirstFromEnd)}, stream_);
  }

  Record after_refusal(const Launched& launched, std::uint64_t block,
                       const std::optional<kernels::Applicability>& answer, const std::string& reason) {
    // What the refused launch left behind must be the inputs and nothing else.
    find_overwritten(launched, false);
    counters_.fetch(stream_);
    stream_.wait();
    if (must_be_served(launched.c))
      return failed_block_record(subject_, block, Verdict::refused,
                                 describe(launched.c.layout) + ": " + reason);
    if (answer && answer->reason != reason)
      return failed_block_record(
          subject_, block, Verdict::error,
          "the kernel refuses with \"" + reason + "\", its predicate says \"" + answer->reason + "\"");
    if (counters_.fetched(kOverwritten) != 0)
      return failed_block_record(subject_, block, Verdict::error,
                                 "the kernel refused (" + reason + ") but wrote");
    return refused_block_record(subject_, block);
  }

  Record after_run(const Launched& launched, std::uint64_t block) {
    add_output_digest(arena_, launched.placement, launched.c.first_index, subject_.identity.seed,
                      counters_.on_device(kDigest), stream_);
    find_overwritten(launched, true);
    counters_.fetch(stream_);

    BlockOutcome outcome;
    outcome.expected_digest = expected_digest(launched, block);  // while the device works
    stream_.wait();
    outcome.digest = counters_.fetched(kDigest);
    std::optional<ElementFinding<T>> first;
    if (outcome.digest != outcome.expected_digest) {
      outcome.tally = compare_elements(launched);
      if (outcome.tally.first) first = finding(launched, *outcome.tally.first);
      if (first && explains(block)) outcome.explanation = explanation(launched, first->row);
      if (subject_.domain.name == "values") {
        std::vector<std::uint16_t> row(launched.c.width);
        outcome.errors = value_errors<T>(launched.c, *expected_, [&](std::uint64_t index) {
          fetch_rows(launched, index, 1, row);
          return std::span<const std::uint16_t>(row);
        });
      }
    }
    outcome.tally.kinds.out_of_bounds = counters_.fetched(kOverwritten);
    if (!first && counters_.fetched(kOverwritten) > 0) outcome.out_of_bounds = first_out_of_bounds(launched);
    return block_record(subject_, launched.c, block, outcome, first);
  }

  OutOfBoundsWrite first_out_of_bounds(const Launched& launched) const {
    const std::uint64_t element = launched.placement.arena_elements - counters_.fetched(kFirstFromEnd);
    std::uint16_t now = 0;
    check(cudaMemcpy(&now, arena_ + element, sizeof now, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return out_of_bounds_write(launched.c, launched.placement, element, now);
  }

  Explanation explanation(const Launched& launched, std::uint64_t first) const {
    const Case& c = launched.c;
    const std::uint64_t rows = std::min(c.rows - first, kObservedRows);
    std::vector<std::uint16_t> got(rows * c.width);
    fetch_rows(launched, first, rows, got);
    return explain_rows<T>(subject_, c, *expected_, {first, got});
  }

  void fetch_rows(const Launched& launched, std::uint64_t first_row, std::uint64_t rows,
                  std::span<std::uint16_t> to) const {
    const Region& output = launched.placement.output;
    check(cudaMemcpy2D(to.data(), output.width * sizeof(std::uint16_t),
                       arena_ + output.begin + first_row * output.stride, output.stride * sizeof(std::uint16_t),
                       output.width * sizeof(std::uint16_t), rows, cudaMemcpyDeviceToHost),
          "cudaMemcpy2D");
  }

  // Fetches the outputs in parts and compares them on all cores.
  Tally compare_elements(const Launched& launched) const {
    constexpr std::uint64_t kElementsPerPart = 1u << 26;
    const Case& c = launched.c;
    const std::uint64_t rows_per_part = std::clamp<std::uint64_t>(kElementsPerPart / c.width, 1, c.rows);
    const std::vector<T> bias = expected_->bias(c);
    std::vector<std::uint16_t> got(rows_per_part * c.width);
    Tally total;
    std::mutex mutex;
    for (std::uint64_t part = 0; part < c.rows; part += rows_per_part) {
      const std::uint64_t rows = std::min(rows_per_part, c.rows - part);
      fetch_rows(launched, part, rows, got);
      tbb::parallel_for(
          tbb::blocked_range<std::uint64_t>(0, rows), [&](const tbb::blocked_range<std::uint64_t>& range) {
            reference::require_environment();
            std::vector<T> inputs(c.width), outputs(c.width);
            Tally tally;
            for (std::uint64_t row = range.begin(); row != range.end(); ++row) {
              expected_->row(c, part + row, bias, inputs, outputs);
              compare<T>(outputs,
                         numbers_of<T>(std::span<const std::uint16_t>(got).subspan(row * c.width, c.width)),
                         (part + row) * c.width, tally);
            }
            const std::lock_guard lock(mutex);
            total += tally;
          });
    }
    return total;
  }

  ElementFinding<T> finding(const Launched& launched, std::uint64_t index) const {
    const Case& c = launched.c;
    const std::uint64_t row = index / c.width, column = index % c.width;
    const std::vector<T> bias = expected_->bias(c);
    std::vector<T> inputs(c.width), outputs(c.width);
    expected_->row(c, row, bias, inputs, outputs);
    std::vector<std::uint16_t> got(c.width);
    fetch_rows(launched, row, 1, got);
    return {row, column, inputs[column], bias.empty() ? T{} : bias[column], outputs[column], T{got[column]}};
  }

  ElementwiseSubject subject_;
  int device_id_;
  kernels::cuda::DeviceScope scope_;
  std::shared_ptr<Expected<T>> expected_;
  Stream stream_;
  DeviceBuffer<std::uint16_t> memory_;
  DeviceCounters<3> counters_;
  std::uint16_t* arena_ = nullptr;
  FirstWrongBlock first_wrong_;
};

}  // namespace

std::unique_ptr<Check> make_device_check(const ElementwiseSubject& subject, int device_id) {
  if (subject.dtype == reference::Dtype::bf16)
    return std::make_unique<DeviceCheck<reference::Bf16>>(subject, device_id);
  return std::make_unique<DeviceCheck<reference::Fp16>>(subject, device_id);
}

}  // namespace bitproof::conformance
