// A unit function on a GPU: digests of both sides first; a block whose digests differ is fetched and compared.
#include <algorithm>
#include <bit>
#include <vector>

#include <fmt/format.h>

#include "conformance/comparison.h"
#include "conformance/device/device_memory.h"
#include "conformance/units/unit_kernels.h"
#include "conformance/units/unit_plan.h"

namespace bitproof::conformance {
namespace {

struct Fp32 {
  std::uint32_t bits;

  bool is_nan() const { return (bits & 0x7FFFFFFFu) > 0x7F800000u; }
  bool is_zero() const { return (bits & 0x7FFFFFFFu) == 0; }
  // Ascending with the number; both zeros are 0.
  std::int64_t ordered() const {
    const auto magnitude = static_cast<std::int64_t>(bits & 0x7FFFFFFFu);
    return bits >> 31 != 0 ? -magnitude : magnitude;
  }
};

// As difference() and distance() of comparison.h, for FP32 results.
Difference difference(Fp32 expected, Fp32 got) {
  if (expected.bits == got.bits) return Difference::none;
  if (expected.is_nan() && got.is_nan()) return Difference::nan_bits;
  if (expected.is_zero() && got.is_zero()) return Difference::zero_sign;
  return Difference::value;
}

std::uint64_t distance(Fp32 expected, Fp32 got) {
  if (expected.is_nan() && got.is_nan()) return 0;
  if (expected.is_nan() || got.is_nan()) return kNoDistance;
  const std::int64_t apart = expected.ordered() - got.ordered();
  return static_cast<std::uint64_t>(apart < 0 ? -apart : apart);
}

class UnitCheck final : public Check {
 public:
  UnitCheck(const UnitFunction& function, Record identity, int device_id)
      : function_(function), identity_(std::move(identity)), scope_(device_id) {}

  Record plan() const override { return identity_; }
  bool concurrent_blocks() const override { return false; }

  Record run_block(std::uint64_t block) override {
    const std::uint64_t first = block * kUnitBlockInputs;
    counters_.clear(stream_);
    add_unit_digest(function_.unit, first, kUnitBlockInputs, identity_.seed, counters_.on_device(0), stream_);
    counters_.fetch(stream_);

    Record record = identity_;
    record.blocks = {{block, block + 1}};
    record.tested = kUnitBlockInputs;
    record.expected_digest = unit_reference_digest(function_.unit, first, kUnitBlockInputs, identity_.seed);
    stream_.wait();
    record.digest = counters_.fetched(0);
    if (record.digest != record.expected_digest) compare_inputs(first, block, record);
    return record;
  }

 private:
  void compare_inputs(std::uint64_t first, std::uint64_t block, Record& record) {
    constexpr std::uint64_t kPart = 1u << 22;
    std::vector<std::uint32_t> got(kPart);
    Tally tally;
    for (std::uint64_t part = first; part < first + kUnitBlockInputs; part += kPart) {
      unit_results(function_.unit, part, kPart, results_.reserve(kPart), stream_);
      kernels::cuda::check(cudaMemcpyAsync(got.data(), results_.get(), kPart * sizeof(std::uint32_t),
                                           cudaMemcpyDeviceToHost, stream_),
                           "cudaMemcpyAsync");
      stream_.wait();
      for (std::uint64_t i = 0; i < kPart; ++i) compare_one(part + i, got[i], block, tally, record);
    }
    record.kinds = tally.kinds;
    record.mismatches = tally.kinds.total();
    record.max_ulp = tally.max_ulp;
    record.ulp_histogram = tally.histogram;
  }

  void compare_one(std::uint64_t input, std::uint32_t got, std::uint64_t block, Tally& tally,
                   Record& record) const {
    const std::uint32_t expected = unit_reference(function_.unit, static_cast<std::uint32_t>(input));
    if (expected == got) return;
    const Fp32 e = as_fp32(expected), g = as_fp32(got);
    tally.count(difference(e, g), distance(e, g), input);
    if (!record.first) record.first = counterexample(static_cast<std::uint32_t>(input), expected, got, block);
  }

  // 16-bit results compare as the FP32 numbers they are; bf16 is the upper half of one.
  Fp32 as_fp32(std::uint32_t bits) const {
    if (function_.result_bits == 32) return {bits};
    const bool bf16 = function_.unit == Unit::to_bf16 || function_.unit == Unit::add_bf16;
    const auto half = static_cast<std::uint16_t>(bits);
    return {std::bit_cast<std::uint32_t>(bf16 ? reference::widen(reference::Bf16{half})
                                              : reference::widen(reference::Fp16{half}))};
  }

  Counterexample counterexample(std::uint32_t input, std::uint32_t expected, std::uint32_t got,
                                std::uint64_t block) const {
    Counterexample example;
    if (function_.domain == "pairs") {
      example.inputs = {fmt::format("a=0x{:04x}", input >> 16), fmt::format("b=0x{:04x}", input & 0xFFFF)};
    } else {
      example.inputs = {fmt::format("x=0x{:08x}", input)};
    }
    const int digits = function_.result_bits / 4;
    example.expected = fmt::format("0x{:0{}x}", expected, digits);
    example.got = fmt::format("0x{:0{}x}", got, digits);
    const Fp32 e = as_fp32(expected), g = as_fp32(got);
    example.kind = name(difference(e, g));
    example.expected_value = std::bit_cast<float>(e.bits);
    example.got_value = std::bit_cast<float>(g.bits);
    example.ulp = distance(e, g);
    example.block = block;
    example.reproduce = fmt::format("./bitproof run --op {} --dtype {} --device {} --seed {} --block {}",
                                    function_.op, function_.dtype, identity_.device, identity_.seed, block);
    return example;
  }

  UnitFunction function_;
  Record identity_;
  kernels::cuda::DeviceScope scope_;
  Stream stream_;
  DeviceCounters<1> counters_;
  DeviceBuffer<std::uint32_t> results_;
};

}  // namespace

std::unique_ptr<Check> make_unit_check(const UnitFunction& function, Record identity, int device_id) {
  return std::make_unique<UnitCheck>(function, std::move(identity), device_id);
}

}  // namespace bitproof::conformance
