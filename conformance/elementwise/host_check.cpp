// An elementwise check on the CPU: one arena per block, everything compared element by element.
#include <algorithm>
#include <cstring>
#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <utility>
#include <vector>

#include "conformance/digest_bulk.h"
#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/first_wrong_block.h"
#include "conformance/emulator/fault.h"
#include "conformance/mutants/diagnosis.h"
#include "reference/environment.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

// 16-bit elements at a 256-byte boundary.
class HostArena {
 public:
  // Memory for at least so many elements.
  void reserve(std::uint64_t elements) {
    if (elements <= capacity_) return;
    storage_.reset();
    storage_.reset(new (std::align_val_t{256}) std::uint16_t[elements]);
    capacity_ = elements;
  }

  // All poisoned. Memory that suffices is kept: blocks of one shape have their tensors at one address, as
  // buffers are reused in the field, so that a kernel which remembers addresses is noticed.
  void reset(std::uint64_t elements) {
    reserve(elements);
    elements_ = elements;
    std::ranges::fill(span(), kPoison);
  }

  std::uint16_t* data() { return storage_.get(); }
  std::span<std::uint16_t> span() { return {storage_.get(), elements_}; }
  std::span<std::uint16_t> row(const Region& region, std::uint64_t index) {
    return span().subspan(region.begin + index * region.stride, region.width);
  }

 private:
  struct Release {
    void operator()(std::uint16_t* memory) const { ::operator delete[](memory, std::align_val_t{256}); }
  };
  std::unique_ptr<std::uint16_t[], Release> storage_;
  std::uint64_t capacity_ = 0, elements_ = 0;
};

// The arenas of the blocks that run at the same time. Thread-safe.
class HostArenas {
 public:
  HostArena take() {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) return {};
    HostArena arena = std::move(free_.back());
    free_.pop_back();
    return arena;
  }
  void give_back(HostArena arena) {
    const std::lock_guard lock(mutex_);
    free_.push_back(std::move(arena));
  }

 private:
  std::mutex mutex_;
  std::vector<HostArena> free_;
};

template <Half T>
class HostCheck final : public Check {
 public:
  explicit HostCheck(const ElementwiseSubject& subject)
      : subject_(subject), expected_(expected_for<T>(subject.op, subject.profile)) {}

  Record plan() const override { return subject_.identity; }
  bool concurrent_blocks() const override { return subject_.implementation.concurrent; }

  Record run_block(std::uint64_t block) override {
    reference::require_environment();
    const Case c = subject_.domain.make_case(block);
    const Placement placement = place(c, subject_.op.has_bias);
    HostArena arena = arenas_.take();
    arena.reset(placement.arena_elements);
    Record record = run_case(c, block, placement, arena);
    arenas_.give_back(std::move(arena));
    if (record.first && explains(block))
      shrink_first(subject_, record,
                   [&](const Case& other) { return run_alone(other, placement.arena_elements); });
    return record;
  }

 private:
  bool explains(std::uint64_t wrong_block) { return subject_.explain && first_wrong_.is(wrong_block); }

  // Within memory of the block's size: what a kernel writes too far must not end the search.
  Record run_alone(const Case& c, std::uint64_t least_elements) {
    HostArena arena;
    arena.reserve(least_elements);
    const Placement placement = place(c, subject_.op.has_bias);
    arena.reset(placement.arena_elements);
    return run_case(c, kNoBlock, placement, arena);
  }

  Record run_case(const Case& c, std::uint64_t block, const Placement& placement, HostArena& arena) {
    if (c.after_other_inputs) {
      (void)run_case(with_other_inputs(c), kNoBlock, placement, arena);
      arena.reset(placement.arena_elements);
    }
    fill_inputs(c, placement, arena);
    std::vector<std::uint16_t> before(arena.span().begin(), arena.span().end());
    const Tensors tensors(placement, subject_.op.has_bias, arena.data(), subject_.dtype, DLDevice{kDLCPU, 0});

    const std::optional<kernels::Applicability> answer = predicted(subject_.implementation, tensors);
    try {
      subject_.implementation.run(tensors, nullptr);
      if (c.layout.launch == Launch::repeated) repeat(tensors, placement, arena);
    } catch (const kernels::Refused& refusal) {
      return after_refusal(c, block, placement, before, arena, answer, refusal.what());
    } catch (const emulator::CodeFault& fault) {
      return faulted_block_record(subject_, c, block, fault.what());
    }
    if (answer && !*answer)
      return failed_block_record(subject_, block, Verdict::error,
                                 "the predicate refuses (" + answer->reason + ") but the kernel ran");
    return after_run(c, block, placement, before, arena);
  }

  void fill_inputs(const Case& c, const Placement& placement, HostArena& arena) const {
    for (std::uint64_t row = 0; row < c.rows; ++row) {
      const std::span<std::uint16_t> out = arena.row(placement.input, row);
      for (std::uint64_t column = 0; column < c.width; ++column) out[column] = c.source.input(row, column);
    }
    if (!subject_.op.has_bias) return;
    const std::span<std::uint16_t> out = arena.row(placement.bias, 0);
    for (std::uint64_t column = 0; column < c.width; ++column) out[column] = c.source.bias(column);
  }

  // Again and again, until an output differs from that of the first time: it is the one to be compared.
  void repeat(const Tensors& tensors, const Placement& placement, HostArena& arena) const {
    constexpr int kRepetitions = 100;
    const std::vector<std::uint16_t> first(arena.span().begin(), arena.span().end());
    for (int i = 1; i < kRepetitions && std::ranges::equal(arena.span(), first); ++i) {
      for (std::uint64_t row = 0; row < placement.output.rows; ++row)
        std::ranges::fill(arena.row(placement.output, row), kPoison);
      subject_.implementation.run(tensors, nullptr);
    }
  }

  struct Overwritten {
    std::uint64_t count = 0, first = 0;  // of the arena's elements
  };

  // Elements changed that no kernel may change: guards, gaps, bias, the input where it is not the output, and
  // after a refusal the output too.
  static Overwritten overwritten(std::span<std::uint16_t> before, const Placement& placement, HostArena& arena,
                                 bool output_may_change) {
    if (output_may_change)
      for (std::uint64_t row = 0; row < placement.output.rows; ++row)
        std::ranges::copy(arena.row(placement.output, row),
                          before.begin() + static_cast<std::ptrdiff_t>(placement.output.begin +
                                                                       row * placement.output.stride));
    const std::span<const std::uint16_t> after = arena.span();
    if (std::memcmp(before.data(), after.data(), after.size_bytes()) == 0) return {};
    Overwritten found;
    for (std::size_t i = 0; i < after.size(); ++i)
      if (after[i] != before[i] && found.count++ == 0) found.first = i;
    return found;
  }

  Record after_refusal(const Case& c, std::uint64_t block, const Placement& placement,
                       std::span<std::uint16_t> before, HostArena& arena,
                       const std::optional<kernels::Applicability>& answer, const std::string& reason) const {
    if (must_be_served(c))
      return failed_block_record(subject_, block, Verdict::refused, describe(c.layout) + ": " + reason);
    if (answer && answer->reason != reason)
      return failed_block_record(
          subject_, block, Verdict::error,
          "the kernel refuses with \"" + reason + "\", its predicate says \"" + answer->reason + "\"");
    if (overwritten(before, placement, arena, false).count != 0)
      return failed_block_record(subject_, block, Verdict::error,
                                 "the kernel refused (" + reason + ") but wrote");
    return refused_block_record(subject_, block);
  }

  Record after_run(const Case& c, std::uint64_t block, const Placement& placement,
                   std::span<std::uint16_t> before, HostArena& arena) {
    BlockOutcome outcome;
    std::optional<ElementFinding<T>> first;
    const std::vector<T> biases = expected_->bias(c);
    std::vector<T> inputs(c.width), outputs(c.width);
    for (std::uint64_t row = 0; row < c.rows; ++row) {
      expected_->row(c, row, biases, inputs, outputs);
      const std::span<const std::uint16_t> got = arena.row(placement.output, row);
      const std::uint64_t first_of_row = row * c.width;
      const bool had_first = outcome.tally.first.has_value();
      compare<T>(outputs, numbers_of<T>(got), first_of_row, outcome.tally);
      outcome.digest += digest(got, c.first_index + first_of_row, subject_.identity.seed);
      outcome.expected_digest +=
          digest(bits_of<T>(outputs), c.first_index + first_of_row, subject_.identity.seed);
      if (!had_first && outcome.tally.first)
        first = finding(row, *outcome.tally.first - first_of_row, inputs, biases, outputs, got);
    }
    if (subject_.domain.name == "values" && outcome.tally.kinds.total() > 0)
      outcome.errors =
          value_errors<T>(c, *expected_, [&](std::uint64_t row) { return arena.row(placement.output, row); });
    if (first && explains(block)) outcome.explanation = explanation(c, placement, arena, first->row);
    const Overwritten writes = overwritten(before, placement, arena, true);
    outcome.tally.kinds.out_of_bounds = writes.count;
    if (!first && writes.count > 0)
      outcome.out_of_bounds = out_of_bounds_write(c, placement, writes.first, arena.span()[writes.first]);
    return block_record(subject_, c, block, outcome, first);
  }

  Explanation explanation(const Case& c, const Placement& placement, HostArena& arena,
                          std::uint64_t first) const {
    std::vector<std::uint16_t> rows;
    for (std::uint64_t row = first; row < std::min(c.rows, first + kObservedRows); ++row)
      rows.insert(rows.end(), arena.row(placement.output, row).begin(), arena.row(placement.output, row).end());
    return explain_rows<T>(subject_, c, *expected_, {first, rows});
  }

  static ElementFinding<T> finding(std::uint64_t row, std::uint64_t column, const std::vector<T>& inputs,
                                   const std::vector<T>& biases, const std::vector<T>& outputs,
                                   std::span<const std::uint16_t> got) {
    return {row,           column, inputs[column], biases.empty() ? T{} : biases[column], outputs[column],
            T{got[column]}};
  }

  ElementwiseSubject subject_;
  std::shared_ptr<Expected<T>> expected_;
  HostArenas arenas_;
  FirstWrongBlock first_wrong_;
};

}  // namespace

std::unique_ptr<Check> make_host_check(const ElementwiseSubject& subject) {
  if (subject.dtype == reference::Dtype::bf16) return std::make_unique<HostCheck<reference::Bf16>>(subject);
  return std::make_unique<HostCheck<reference::Fp16>>(subject);
}

}  // namespace bitproof::conformance
