#include "conformance/linear/check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>
#include <tbb/parallel_reduce.h>

#include "conformance/comparison.h"
#include "conformance/digest_bulk.h"
#include "conformance/linear/models.h"
#include "reference/environment.h"

namespace bitproof::conformance {
namespace {

using reference::EpilogueDifference;
using reference::Half;

// Causes are counted by EpilogueDifference, `none` standing for what the other path does not explain.
constexpr std::size_t kCauses = 5;
constexpr std::string_view kUnexplained = "unexplained by the other path";

std::string_view cause_name(std::size_t cause) {
  return cause == 0 ? kUnexplained : name(static_cast<EpilogueDifference>(cause));
}

// An element: its place among the tested ones of a case.
template <Half T>
struct Element {
  std::uint64_t index = 0;
  float accumulator = 0;
  T expected{}, got{};
};

// Elements of one cause.
template <Half T>
struct CauseCount {
  std::uint64_t count = 0;
  std::optional<Element<T>> first;
};

template <Half T>
struct Comparison {
  Tally tally;
  std::uint64_t digest = 0, expected_digest = 0;
  std::array<CauseCount<T>, kCauses> causes;

  Comparison& operator+=(const Comparison& other) {
    tally += other.tally;
    digest += other.digest;
    expected_digest += other.expected_digest;
    for (std::size_t i = 0; i < kCauses; ++i) {
      causes[i].count += other.causes[i].count;
      const auto& theirs = other.causes[i].first;
      if (theirs && (!causes[i].first || theirs->index < causes[i].first->index)) causes[i].first = theirs;
    }
    return *this;
  }

  // Of lowest index.
  std::optional<Element<T>> first() const {
    std::optional<Element<T>> lowest;
    for (const CauseCount<T>& cause : causes)
      if (cause.first && (!lowest || cause.first->index < lowest->index)) lowest = cause.first;
    return lowest;
  }
};

// Adds the elements [begin, end) of a case to a comparison.
template <Half T>
class Comparer {
 public:
  Comparer(const ExpectedOutputs<T>& expected, std::span<const float> accumulators, std::span<const T> got,
           std::uint64_t first_index, std::uint64_t seed)
      : expected_(expected), accumulators_(accumulators), got_(got), first_index_(first_index), seed_(seed) {}

  Comparison<T> all() const {
    constexpr std::size_t kGrain = 1u << 14;
    return tbb::parallel_reduce(
        tbb::blocked_range<std::size_t>(0, got_.size(), kGrain), Comparison<T>{},
        [this](const tbb::blocked_range<std::size_t>& part, Comparison<T> sum) {
          reference::require_environment();
          add(part.begin(), part.end(), sum);
          return sum;
        },
        [](Comparison<T> a, const Comparison<T>& b) { return a += b; });
  }

 private:
  void add(std::size_t begin, std::size_t end, Comparison<T>& sum) const {
    std::vector<T> expected(end - begin);
    for (std::size_t i = begin; i < end; ++i) expected[i - begin] = expected_(accumulators_[i]);
    const std::span<const T> got = got_.subspan(begin, end - begin);
    sum.digest += digest(bits_of<T>(got), first_index_ + begin, seed_);
    sum.expected_digest += digest(bits_of<T>(std::span<const T>(expected)), first_index_ + begin, seed_);
    compare<T>(std::span<const T>(expected), got, begin, sum.tally);
    for (std::size_t i = begin; i < end; ++i) {
      const T wanted = expected[i - begin];
      if (wanted == got_[i]) continue;
      const auto explained = expected_.explanation(accumulators_[i], got_[i]);
      CauseCount<T>& cause = sum.causes[static_cast<std::size_t>(explained.value_or(EpilogueDifference::none))];
      ++cause.count;
      if (!cause.first || i < cause.first->index)
        cause.first = Element<T>{i, accumulators_[i], wanted, got_[i]};
    }
  }

  const ExpectedOutputs<T>& expected_;
  std::span<const float> accumulators_;
  std::span<const T> got_;
  std::uint64_t first_index_, seed_;
};

template <Half T>
class LinearCheck final : public Check {
 public:
  LinearCheck(const LinearSubject& subject, std::unique_ptr<LinearLauncher<T>> launcher)
      : subject_(subject), expected_(subject.contract), launcher_(std::move(launcher)) {}

  Record plan() const override { return subject_.identity; }
  bool concurrent_blocks() const override { return false; }  // all cores are used inside a block

  Record run_block(std::uint64_t block) override {
    reference::require_environment();
    const LinearCase& c = subject_.domain.cases[block];
    const auto predicted =
        predicted_case<T>(c, {subject_.domain.name, subject_.location, subject_.identity.seed, block});
    for (int i = 1;; ++i) {
      const Launched<T> launched = launcher_->launch(predicted->layer, c.rows);
      if (!launched.refusal.empty() || c.must_be_refused) return after_refusal(c, block, launched);
      Record record = after_launch(c, block, *predicted, launched);
      // The last launch, or the first wrong one, speaks for all.
      if (record.mismatches > 0 || i == c.repetitions) return record;
    }
  }

 private:
  // A launch, and the models whose bits it has.
  struct Launch {
    const LinearCase& c;
    std::uint64_t block;
    const PredictedCase<T>& predicted;
    std::vector<LinearModel> models;
  };

  Record of_block(std::uint64_t block) const {
    Record record = subject_.identity;
    record.blocks = {{block, block + 1}};
    return record;
  }

  Record after_refusal(const LinearCase& c, std::uint64_t block, const Launched<T>& launched) const {
    Record record = of_block(block);
    const auto declined = reference::refuse_prediction(c.shape, 1);
    if (!c.must_be_refused) {
      record.verdict = Verdict::refused;
      record.reason = c.description + ": " + launched.refusal;
    } else if (launched.refusal.empty()) {
      record.verdict = Verdict::error;
      record.reason = c.description + ": served, although nobody predicts its bits: " +
                      (declined ? declined->reason : "the reference does not decline it");
    } else {
      record.tested = 1;
    }
    return record;
  }

  Record after_launch(const LinearCase& c, std::uint64_t block, const PredictedCase<T>& predicted,
                      const Launched<T>& launched) const {
    const std::uint64_t first_index = first_index_of_block(block);
    const Comparison<T> found =
        Comparer<T>(expected_, predicted.accumulators, launched.outputs, first_index, subject_.identity.seed)
            .all();
    Record record = of_block(block);
    record.tested = subject_.domain.unit == "cases" ? 1 : launched.outputs.size();
    record.kinds = found.tally.kinds;
    record.kinds.unwritten += launched.unwritten;
    record.kinds.out_of_bounds = launched.overwritten;
    record.mismatches = record.kinds.total();
    record.max_ulp = found.tally.max_ulp;
    record.ulp_histogram = found.tally.histogram;
    record.digest = found.digest;
    record.expected_digest = found.expected_digest;
    const auto first = found.first();
    const Launch launch{c, block, predicted, first ? models_of(c, predicted, launched.outputs) : right_model()};
    if (first) record.first = counterexample(launch, *first);
    record.causes = causes_of(launch, found);
    if (launched.algorithm) record.algorithms = {*launched.algorithm};
    if (subject_.infers_model && !launched.algorithm) record.algorithms = {inferred(launch.models)};
    for (LibraryAlgorithm& algorithm : record.algorithms)
      algorithm.shapes = {fmt::format("{} x {} -> {}", c.shape.rows, c.shape.depth, c.shape.columns)};
    if (subject_.domain.name == "values" && record.mismatches > 0)
      record.errors = errors_of(predicted.accumulators, launched.outputs);
    return record;
  }

  // Of `values`: element i is the number with bits i. Saturating as in a map: 1 stands also for a difference
  // without a distance between zeros or NaNs.
  std::vector<std::uint8_t> errors_of(std::span<const float> accumulators, std::span<const T> got) const {
    std::vector<std::uint8_t> errors(got.size());
    for (std::size_t i = 0; i < got.size(); ++i) {
      const T expected = expected_(accumulators[i]);
      if (expected != got[i])
        errors[i] = static_cast<std::uint8_t>(std::clamp<std::uint64_t>(distance(expected, got[i]), 1, 255));
    }
    return errors;
  }

  // The row of the whole output that a tested element lies in.
  static std::uint64_t row_of(const LinearCase& c, std::uint64_t index) {
    std::uint64_t row = index / c.shape.columns;
    for (const BlockRange& range : c.rows) {
      if (row < range.end - range.begin) return range.begin + row;
      row -= range.end - range.begin;
    }
    return row;
  }

  Counterexample counterexample(const Launch& launch, const Element<T>& at) const {
    const LinearCase& c = launch.c;
    const Difference kind = difference(at.expected, at.got);
    Counterexample example;
    example.row = row_of(c, at.index);
    example.column = at.index % c.shape.columns;
    example.rows = c.shape.rows;
    example.width = c.shape.columns;
    example.inputs = {
        fmt::format("accumulator=0x{:08x}", reference::float_bits(at.accumulator)),
        fmt::format("bias=0x{:04x}", launch.predicted.layer.bias[example.column].bits),
    };
    example.expected = fmt::format("0x{:04x}", at.expected.bits);
    example.got = fmt::format("0x{:04x}", at.got.bits);
    example.kind = conformance::name(kind);
    example.expected_value = reference::widen(at.expected);
    example.got_value = reference::widen(at.got);
    example.ulp = kind == Difference::unwritten ? 0 : distance(at.expected, at.got);
    example.block = launch.block;
    example.layout = fmt::format("{}: depth {}", c.description, c.shape.depth);
    example.parts_at = where_computations_part(launch, at, kind);
    example.reproduce = reproduce_command(launch.block);
    if (!launch.models.empty())
      example.diagnosis = fmt::format("differs exactly as {} would", describe(launch.models));
    return example;
  }

  std::string reproduce_command(std::uint64_t block) const {
    if (subject_.reproduce) return subject_.reproduce(block);
    const Record& id = subject_.identity;
    return fmt::format(
        "./bitproof run --op {} --dtype {} --impl {} --domain {} --device {} --seed {} --block {}", id.op,
        id.dtype, id.implementation, id.domain, id.device, id.seed, block);
  }

  std::vector<LinearModel> right_model() const { return {model_of(subject_.contract)}; }

  // Of wrong bits: the models that give all of them, as far as can be seen from some rows.
  std::vector<LinearModel> models_of(const LinearCase& c, const PredictedCase<T>& predicted,
                                     const std::vector<T>& got) const {
    std::vector<T> expected(got.size());
    tbb::parallel_for(tbb::blocked_range<std::size_t>(0, got.size(), 1u << 14), [&](const auto& part) {
      reference::require_environment();
      for (std::size_t i = part.begin(); i < part.end(); ++i)
        expected[i] = expected_(predicted.accumulators[i]);
    });
    return models_that_explain<T>(predicted, c, got, rows_to_explain<T>(c, expected, got), subject_.contract);
  }

  // Whether a launch's bits are those of a model that is not the other path: then no element's are, whatever it
  // looks like by itself.
  bool is_third_way(const Launch& launch) const {
    const reference::Profile& eager = subject_.contract.eager_profile();
    const LinearModel other_path = model_of(subject_.contract.is_epilogue() ? LinearContract::eager(eager)
                                                                            : LinearContract::epilogue(eager));
    return !launch.models.empty() && std::ranges::find(launch.models, other_path) == launch.models.end();
  }

  std::vector<Cause> causes_of(const Launch& launch, const Comparison<T>& found) const {
    std::vector<Cause> causes;
    std::uint64_t total = 0;
    for (std::size_t i = 0; i < kCauses; ++i) {
      const CauseCount<T>& cause = found.causes[i];
      total += cause.count;
      if (cause.count > 0)
        causes.push_back({std::string(cause_name(i)), cause.count, counterexample(launch, *cause.first)});
    }
    std::ranges::sort(causes, {}, &Cause::name);
    if (total == 0 || !is_third_way(launch)) return causes;
    return {{describe(launch.models), total, counterexample(launch, *found.first())}};
  }

  static LibraryAlgorithm inferred(const std::vector<LinearModel>& models) {
    return {.description = "bits of " + (models.empty() ? "no known model" : describe(models)),
            .splits = static_cast<std::uint64_t>(models.empty() ? 0 : models.front().splits),
            .workspace_bytes = 0,
            .shapes = {}};
  }

  std::string where_computations_part(const Launch& launch, const Element<T>& at, Difference kind) const {
    if (kind == Difference::unwritten) return "the element was never written";
    const auto explained = expected_.explanation(at.accumulator, at.got);
    if (!explained || is_third_way(launch)) return {};
    return fmt::format("{}: {}", name(*explained),
                       expected_.contract().is_epilogue()
                           ? "as if the sum were rounded to the dtype, and GELU were eager's"
                           : "as if GELU saw the FP32 sum, in the form of cuBLASLt's epilogue");
  }

  LinearSubject subject_;
  ExpectedOutputs<T> expected_;
  std::unique_ptr<LinearLauncher<T>> launcher_;
};

}  // namespace

template <Half T>
std::unique_ptr<Check> make_linear_check(const LinearSubject& subject,
                                         std::unique_ptr<LinearLauncher<T>> launcher) {
  return std::make_unique<LinearCheck<T>>(subject, std::move(launcher));
}

template std::unique_ptr<Check> make_linear_check(const LinearSubject&,
                                                  std::unique_ptr<LinearLauncher<reference::Bf16>>);
template std::unique_ptr<Check> make_linear_check(const LinearSubject&,
                                                  std::unique_ptr<LinearLauncher<reference::Fp16>>);

}  // namespace bitproof::conformance
