#include "conformance/digest_bulk.h"

#include <cstddef>

#include "conformance/digest.h"

// Compiled once per instruction set; HWY_DYNAMIC_DISPATCH takes the best one that this processor has.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "conformance/digest_bulk.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bitproof::conformance {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Words = hn::ScalableTag<std::uint64_t>;
using Word = hn::Vec<Words>;

// a * factor modulo 2^64.
HWY_INLINE Word multiply(Word a, std::uint64_t factor) {
  const Words d;
#if HWY_TARGET <= HWY_AVX3 || HWY_TARGET == HWY_SCALAR  // has an instruction for it
  return hn::Mul(a, hn::Set(d, factor));
#else
  const hn::Repartition<std::uint32_t, Words> d32;
  const auto a_low = hn::BitCast(d32, a);
  const auto a_high = hn::BitCast(d32, hn::ShiftRight<32>(a));
  const auto factor_low = hn::BitCast(d32, hn::Set(d, factor & 0xFFFFFFFFu));
  const auto factor_high = hn::BitCast(d32, hn::Set(d, factor >> 32));
  const Word cross = hn::Add(hn::MulEven(a_high, factor_low), hn::MulEven(a_low, factor_high));
  return hn::Add(hn::MulEven(a_low, factor_low), hn::ShiftLeft<32>(cross));
#endif
}

// conformance/digest.h, lane by lane.
HWY_INLINE Word mix64(Word z) {
  z = multiply(hn::Xor(z, hn::ShiftRight<30>(z)), 0xbf58476d1ce4e5b9u);
  z = multiply(hn::Xor(z, hn::ShiftRight<27>(z)), 0x94d049bb133111ebu);
  return hn::Xor(z, hn::ShiftRight<31>(z));
}

HWY_INLINE Word load(const std::uint16_t* from) {
  const Words d;
  const hn::Rebind<std::uint32_t, Words> d32;
  const hn::Rebind<std::uint16_t, Words> d16;
  return hn::PromoteTo(d, hn::PromoteTo(d32, hn::LoadU(d16, from)));
}

std::uint64_t Digest(const std::uint16_t* outputs, std::size_t count, std::uint64_t first_index,
                     std::uint64_t seed) {
  const Words d;
  const std::size_t lanes = hn::Lanes(d);
  const Word seeds = hn::Set(d, seed);
  const Word step = hn::Set(d, lanes);
  Word index = hn::Add(hn::Iota(d, 0), hn::Set(d, first_index));
  Word sum = hn::Zero(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    sum = hn::Add(sum, mix64(hn::Xor(mix64(hn::Xor(seeds, index)), load(outputs + i))));
    index = hn::Add(index, step);
  }
  std::uint64_t total = hn::GetLane(hn::SumOfLanes(d, sum));
  for (; i < count; ++i) total += digest_term(seed, first_index + i, outputs[i]);
  return total;
}

}  // namespace HWY_NAMESPACE
}  // namespace bitproof::conformance
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bitproof::conformance {

HWY_EXPORT(Digest);

std::uint64_t digest(std::span<const std::uint16_t> outputs, std::uint64_t first_index, std::uint64_t seed) {
  return HWY_DYNAMIC_DISPATCH(Digest)(outputs.data(), outputs.size(), first_index, seed);
}

}  // namespace bitproof::conformance
#endif  // HWY_ONCE
