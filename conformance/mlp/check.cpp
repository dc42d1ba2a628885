#include "conformance/mlp/check.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "conformance/comparison.h"
#include "conformance/digest.h"
#include "conformance/linear/domains.h"
#include "conformance/mlp/prediction.h"
#include "conformance/mlp/under_test.h"
#include "reference/linear/gemm.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

template <Half T>
class MlpCheck final : public Check {
 public:
  explicit MlpCheck(const MlpSubject& subject)
      : subject_(subject),
        place_(subject.place()),
        operands_(mlp_operands<T>(subject.shape, subject.identity.seed)),
        mlp_(subject.configuration, *operands_, *place_),
        rows_(spread_row_numbers(subject.shape.rows, subject.rows_tested)) {}

  Record plan() const override { return subject_.identity; }
  bool concurrent_blocks() const override { return false; }

  Record run_block(std::uint64_t block) override {
    const std::vector<T>& expected = expected_outputs();
    const MlpState state = tested_states(subject_)[block];
    const MlpOutput output = mlp_.run(state);
    const std::vector<T> got = tested(output.bits);

    Record record = subject_.identity;
    record.blocks = {{block, block + 1}};
    record.tested = got.size();
    const std::uint64_t first_index = first_index_of_block(block), seed = record.seed;
    for (std::size_t i = 0; i < got.size(); ++i) {
      record.digest += digest_term(seed, first_index + i, got[i].bits);
      record.expected_digest += digest_term(seed, first_index + i, expected[i].bits);
    }
    Tally tally;
    compare<T>(expected, got, 0, tally);
    record.kinds = tally.kinds;
    record.kinds.unwritten += unwritten_elsewhere(output.bits);
    record.kinds.out_of_bounds += output.overwritten;
    record.mismatches = record.kinds.total();
    record.max_ulp = tally.max_ulp;
    record.ulp_histogram = tally.histogram;
    if (tally.first) record.first = counterexample(block, state, *tally.first, expected, got);
    return record;
  }

 private:
  const std::vector<T>& expected_outputs() {
    if (!expected_)
      expected_ = subject_.against_unmounted
                      ? tested(mlp_.run(MlpState::before).bits)
                      : predicted_rows<T>(subject_.configuration, *operands_, subject_.identity.seed, rows_,
                                          subject_.profile);
    return *expected_;
  }

  std::vector<T> tested(std::span<const std::uint16_t> bits) const {
    return reference::gather_rows<T>(numbers_of<T>(bits), subject_.shape.columns, rows_);
  }

  // Elements of the other rows that a run left alone.
  std::uint64_t unwritten_elsewhere(std::span<const std::uint16_t> bits) const {
    std::uint64_t count = 0;
    const std::uint64_t width = subject_.shape.columns;
    for (std::uint64_t row = 0; row < subject_.shape.rows; ++row)
      if (!std::ranges::binary_search(rows_, row))
        count += static_cast<std::uint64_t>(std::ranges::count(bits.subspan(row * width, width), kPoison));
    return count;
  }

  Counterexample counterexample(std::uint64_t block, MlpState state, std::uint64_t index,
                                std::span<const T> expected, std::span<const T> got) const {
    const Record& id = subject_.identity;
    const Difference kind = difference(expected[index], got[index]);
    Counterexample example;
    example.rows = subject_.shape.rows;
    example.width = subject_.shape.columns;
    example.row = rows_[index / example.width];
    example.column = index % example.width;
    example.inputs = {fmt::format("row={}", example.row), fmt::format("column={}", example.column)};
    example.expected = fmt::format("0x{:04x}", expected[index].bits);
    example.got = fmt::format("0x{:04x}", got[index].bits);
    example.kind = conformance::name(kind);
    example.expected_value = reference::widen(expected[index]);
    example.got_value = reference::widen(got[index]);
    example.ulp = kind == Difference::unwritten ? 0 : distance(expected[index], got[index]);
    example.block = block;
    example.layout = fmt::format("{}; {} -> {} -> {}", conformance::name(state), subject_.shape.depth,
                                 subject_.shape.hidden, subject_.shape.columns);
    example.reproduce =
        fmt::format("./bitproof run --op {} --dtype {} --impl {} --domain {} --device {} --seed {} --block {}",
                    id.op, id.dtype, id.implementation, id.domain, id.device, id.seed, block);
    return example;
  }

  MlpSubject subject_;
  std::unique_ptr<MlpPlace> place_;
  std::shared_ptr<const MlpOperands<T>> operands_;
  MlpUnderTest<T> mlp_;
  std::vector<std::size_t> rows_;  // tested, ascending
  std::optional<std::vector<T>> expected_;
};

}  // namespace

std::span<const MlpState> tested_states(const MlpSubject& subject) {
  const std::span<const MlpState> states = states_of(subject.configuration);
  // Before mounting is what the others are compared with.
  return subject.against_unmounted && states.front() == MlpState::before ? states.subspan(1) : states;
}

std::unique_ptr<Check> make_mlp_check(const MlpSubject& subject) {
  if (subject.dtype == reference::Dtype::bf16) return std::make_unique<MlpCheck<reference::Bf16>>(subject);
  return std::make_unique<MlpCheck<reference::Fp16>>(subject);
}

}  // namespace bitproof::conformance
