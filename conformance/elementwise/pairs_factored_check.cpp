#include "conformance/elementwise/pairs_factored_check.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include "conformance/comparison.h"
#include "conformance/digest_bulk.h"
#include "conformance/elementwise/expected.h"
#include "reference/environment.h"
#include "reference/rounded_add.h"

namespace bitproof::conformance {
namespace {

using reference::Half;

constexpr std::uint64_t kAll = 65536, kRowsPerBlock = 256;

template <Half T>
class PairsFactoredCheck final : public Check {
 public:
  PairsFactoredCheck(const ElementwiseOperator& op, const reference::Profile& profile, Record identity)
      : op_(op),
        profile_(profile),
        identity_(std::move(identity)),
        map_([&profile](T x) { return reference::gelu_tanh(x, profile); }) {
    for (std::uint32_t bits = 0; bits < kAll; ++bits) all_.push_back(T{static_cast<std::uint16_t>(bits)});
  }

  Record plan() const override { return identity_; }
  bool concurrent_blocks() const override { return true; }

  Record run_block(std::uint64_t block) override {
    reference::require_environment();
    Tally tally;
    std::uint64_t digest_integer = 0, digest_fp32 = 0;
    std::vector<T> sums(kAll), sums_integer(kAll), outputs(kAll);
    for (std::uint64_t row = 0; row < kRowsPerBlock; ++row) {
      const std::uint64_t bits = block * kRowsPerBlock + row, first_index = bits * kAll;
      const T x{static_cast<std::uint16_t>(bits)};
      reference::add_rounded<T>(x, all_, sums);
      reference::add_rounded_integer<T>(x, all_, sums_integer);
      compare<T>(sums, sums_integer, first_index, tally);
      map_.apply(sums, outputs);
      const std::uint64_t of_fp32 = digest(bits_of<T>(outputs), first_index, identity_.seed);
      digest_fp32 += of_fp32;
      if (std::ranges::equal(sums, sums_integer)) {
        digest_integer += of_fp32;
      } else {
        map_.apply(sums_integer, outputs);
        digest_integer += digest(bits_of<T>(outputs), first_index, identity_.seed);
      }
      // Each input's entry of the map, once over the domain: x + -0 is x.
      const T scalar = reference::bias_gelu_tanh(x, T{0x8000}, profile_);
      if (map_(sums[0x8000]) != scalar)
        tally.count(difference(scalar, map_(sums[0x8000])), distance(scalar, map_(sums[0x8000])),
                    first_index + 0x8000);
    }
    return record(block, tally, digest_integer, digest_fp32);
  }

 private:
  Record record(std::uint64_t block, const Tally& tally, std::uint64_t digest_integer,
                std::uint64_t digest_fp32) const {
    Record record = identity_;
    record.blocks = {{block, block + 1}};
    record.tested = kRowsPerBlock * kAll;
    record.kinds = tally.kinds;
    record.mismatches = tally.kinds.total();
    record.max_ulp = tally.max_ulp;
    record.ulp_histogram = tally.histogram;
    record.digest = digest_integer;
    record.expected_digest = digest_fp32;
    if (tally.first) record.first = counterexample(block, *tally.first);
    return record;
  }

  Counterexample counterexample(std::uint64_t block, std::uint64_t index) const {
    const T x{static_cast<std::uint16_t>(index / kAll)}, bias{static_cast<std::uint16_t>(index % kAll)};
    const T expected = reference::add_rounded(x, bias), got = reference::add_rounded_integer(x, bias);
    Counterexample example;
    example.inputs = {fmt::format("x=0x{:04x}", x.bits), fmt::format("bias=0x{:04x}", bias.bits)};
    example.expected = fmt::format("0x{:04x}", expected.bits);
    example.got = fmt::format("0x{:04x}", got.bits);
    example.kind = name(difference(expected, got));
    example.expected_value = reference::widen(expected);
    example.got_value = reference::widen(got);
    example.ulp = distance(expected, got);
    example.rows = kAll;
    example.width = kAll;
    example.row = x.bits;
    example.column = bias.bits;
    example.block = block;
    example.layout = "contiguous";
    example.parts_at = expected == got ? "the unary map differs from the scalar operator"
                                       : "rounded sum: FP32 and integer arithmetic differ";
    example.reproduce = fmt::format(
        "./bitproof run --op {} --dtype {} --impl reference --domain pairs_factored --seed {} --block {}",
        op_.name, identity_.dtype, identity_.seed, block);
    return example;
  }

  ElementwiseOperator op_;
  reference::Profile profile_;
  Record identity_;
  reference::UnaryMap<T> map_;
  std::vector<T> all_;
};

}  // namespace

std::unique_ptr<Check> make_pairs_factored_check(const ElementwiseOperator& op, reference::Dtype dtype,
                                                 const reference::Profile& profile, Record identity) {
  if (dtype == reference::Dtype::bf16)
    return std::make_unique<PairsFactoredCheck<reference::Bf16>>(op, profile, std::move(identity));
  return std::make_unique<PairsFactoredCheck<reference::Fp16>>(op, profile, std::move(identity));
}

}  // namespace bitproof::conformance
