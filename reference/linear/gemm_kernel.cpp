#include "reference/linear/gemm_kernel.h"

#include <algorithm>
#include <array>
#include <cstdlib>

// Compiled once for each vector instruction set that Highway knows of this architecture, chosen when first called.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/linear/gemm_kernel.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bitproof::reference::gemm_kernel::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// One lane, from the packed operands, through the scalar rule.
HWY_NOINLINE float StepOfLane(const TensorCoreFormat& format, const float* row, const float* column, float c) {
  std::array<float, kTensorCoreStep> b;
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = column[i * kPanelColumns];
  return tensor_core_step(format, std::span<const float>(row, b.size()), b, c);
}

#if HWY_TARGET == HWY_SCALAR

void Accumulate(const TensorCoreFormat& format, const PackedRows& rows, const PackedPanel& panel, float* accumulators) {
  for (std::size_t r = 0; r < rows.rows; ++r) {
    for (std::size_t lane = 0; lane < kPanelColumns; ++lane) {
      float& c = accumulators[r * kPanelColumns + lane];
      for (std::size_t step = 0; step < panel.steps; ++step) {
        const std::size_t k = step * kTensorCoreStep;
        c = StepOfLane(format, rows.values + r * rows.stride + k, panel.values + k * kPanelColumns + lane, c);
      }
    }
  }
}

#else

// The alignments at which FP32 holds everything exactly: no product overflows (below 2^(126 + 2)), 2^(25 - E) is a number,
// and what underflows is less than the unit 2^(E - 25). The other ones go through the scalar rule.
constexpr int kLeastFastAlignment = -100;
constexpr int kLargestFastAlignment = 126;

using ExponentTag = hn::CappedTag<std::int16_t, kPanelColumns>;
using IntTag = hn::RepartitionToWide<ExponentTag>;
using FloatTag = hn::RebindToFloat<IntTag>;
using Exponents = hn::Vec<ExponentTag>;
using Ints = hn::Vec<IntTag>;
using Floats = hn::Vec<FloatTag>;

// Toward zero. |v| < 2^31, so that the saturation that hn::ConvertTo adds on x86 is not needed.
HWY_INLINE Ints Truncate(Floats v) {
#if HWY_TARGET == HWY_AVX2
  return Ints{_mm256_cvttps_epi32(v.raw)};
#elif HWY_TARGET == HWY_AVX3 || HWY_TARGET == HWY_AVX3_DL
  return Ints{_mm512_cvttps_epi32(v.raw)};
#else
  return hn::ConvertTo(IntTag(), v);
#endif
}

// 2^exponent, a normal FP32 number.
HWY_INLINE Floats PowerOfTwo(Ints exponent) {
  const IntTag di;
  return hn::BitCast(FloatTag(), hn::ShiftLeft<23>(hn::Add(exponent, hn::Set(di, 127))));
}

// Signed zeros included: those of c have no exponent.
HWY_INLINE Ints ExponentOfAccumulator(Floats c) {
  const IntTag di;
  const Ints magnitude = hn::And(hn::BitCast(di, c), hn::Set(di, 0x7FFFFFFF));
  const Ints exponent = hn::Sub(hn::ShiftRight<23>(magnitude), hn::Set(di, 127));
  return hn::IfThenElse(hn::Eq(magnitude, hn::Zero(di)), hn::Set(di, kZeroExponent), exponent);
}

// sum toward zero to 24 significant bits: where |sum| >= 2^24, the set bits of |sum| >> 24 mark at least the highest of the
// bits to be dropped; without it the rest is below half a unit, and rounding to nearest rounds down.
HWY_INLINE Floats ConvertTowardZero(Ints sum) {
  const IntTag di;
  const FloatTag df;
  const Ints magnitude = hn::Abs(sum);
  const Floats result = hn::ConvertTo(df, hn::AndNot(hn::ShiftRight<24>(magnitude), magnitude));
  return hn::BitCast(df, hn::Or(hn::BitCast(di, result), hn::And(sum, hn::Set(di, INT32_MIN))));
}

// One step on Lanes(FloatTag) columns of which `product_exponent` is the largest exponent of the products.
HWY_INLINE Floats Step(const TensorCoreFormat& format, const float* row, const float* columns, Ints product_exponent,
                       Floats c) {
  const IntTag di;
  const FloatTag df;
  const Ints alignment = hn::Max(product_exponent, ExponentOfAccumulator(c));
  const Ints fast = hn::Min(hn::Max(alignment, hn::Set(di, kLeastFastAlignment)), hn::Set(di, kLargestFastAlignment));
  const auto all_zero = hn::Lt(alignment, hn::Set(di, kZeroProduct));
  const auto outside = hn::AndNot(all_zero, hn::Ne(alignment, fast));

  const Floats to_units = PowerOfTwo(hn::Sub(hn::Set(di, kTensorCoreAlignedBits), fast));
  Ints even = hn::Zero(di), odd = hn::Zero(di);
  for (std::size_t i = 0; i < kTensorCoreStep; i += 2) {
    const Floats p0 = hn::Mul(hn::Set(df, row[i]), hn::Load(df, columns + i * kPanelColumns));
    const Floats p1 = hn::Mul(hn::Set(df, row[i + 1]), hn::Load(df, columns + (i + 1) * kPanelColumns));
    even = hn::Add(even, Truncate(hn::Mul(p0, to_units)));
    odd = hn::Add(odd, Truncate(hn::Mul(p1, to_units)));
  }
  // 16 products of two significands below 2 are less than 2^31 units, and |c| is less than 2^26.
  const Ints products = hn::Add(even, odd);
  const auto overflows = hn::Gt(hn::Abs(products), hn::Set(di, INT32_MAX - (1 << 26)));
  const Ints sum = hn::Add(products, Truncate(hn::Mul(c, to_units)));
  const Floats from_units = PowerOfTwo(hn::Sub(fast, hn::Set(di, kTensorCoreAlignedBits)));
  const Floats result = hn::Mul(ConvertTowardZero(sum), from_units);

  const auto scalar = hn::Or(outside, overflows);
  if (HWY_LIKELY(hn::AllFalse(di, scalar))) return result;

  HWY_ALIGN float results[hn::MaxLanes(df)];
  HWY_ALIGN float accumulators[hn::MaxLanes(df)];
  HWY_ALIGN std::int32_t is_scalar[hn::MaxLanes(df)];
  hn::Store(result, df, results);
  hn::Store(c, df, accumulators);
  hn::Store(hn::VecFromMask(di, scalar), di, is_scalar);
  for (std::size_t lane = 0; lane < hn::Lanes(df); ++lane) {
    if (is_scalar[lane] != 0) results[lane] = StepOfLane(format, row, columns + lane, accumulators[lane]);
  }
  return hn::Load(df, results);
}

HWY_INLINE Exponents LargestProductExponent(const std::int32_t* row, const std::int16_t* columns) {
  const ExponentTag d16;
  const auto sum = [&](std::size_t i) HWY_ATTR {
    return hn::Add(hn::BitCast(d16, hn::Set(IntTag(), row[i])), hn::Load(d16, columns + i * kPanelColumns));
  };
  Exponents even = sum(0), odd = sum(1);
  for (std::size_t i = 2; i < kTensorCoreStep; i += 2) {
    even = hn::Max(even, sum(i));
    odd = hn::Max(odd, sum(i + 1));
  }
  return hn::Max(even, odd);
}

void Accumulate(const TensorCoreFormat& format, const PackedRows& rows, const PackedPanel& panel, float* accumulators) {
  const ExponentTag d16;
  const IntTag di;
  const FloatTag df;
  const hn::Half<ExponentTag> half16;
  const std::size_t half = hn::Lanes(df);

  for (std::size_t column = 0; column < kPanelColumns; column += hn::Lanes(d16)) {
    for (std::size_t r = 0; r < rows.rows; ++r) {
      float* const out = accumulators + r * kPanelColumns + column;
      Floats low = hn::Load(df, out);
      Floats high = hn::Load(df, out + half);
      for (std::size_t step = 0; step < panel.steps; ++step) {
        const std::size_t k = step * kTensorCoreStep;
        const float* const row = rows.values + r * rows.stride + k;
        const float* const columns = panel.values + k * kPanelColumns + column;
        const Exponents exponents = LargestProductExponent(rows.exponent_pairs + r * rows.stride + k,
                                                           panel.exponents + k * kPanelColumns + column);
        low = Step(format, row, columns, hn::PromoteTo(di, hn::LowerHalf(half16, exponents)), low);
        high = Step(format, row, columns + half, hn::PromoteTo(di, hn::UpperHalf(half16, exponents)), high);
      }
      hn::Store(low, df, out);
      hn::Store(high, df, out + half);
    }
  }
}

#endif  // HWY_TARGET == HWY_SCALAR

}  // namespace bitproof::reference::gemm_kernel::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace bitproof::reference::gemm_kernel {

HWY_EXPORT(Accumulate);

void accumulate(const TensorCoreFormat& format, const PackedRows& rows, const PackedPanel& panel, float* accumulators) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(format, rows, panel, accumulators);
}

int packed_exponent(const TensorCoreFormat& format, float value) {
  const std::uint32_t magnitude = float_bits(value) & 0x7FFFFFFFu;
  if (magnitude == 0) return kZeroExponent;
  if (magnitude >= 0x7F800000u) return kNonFiniteExponent;
  return std::max(static_cast<int>(magnitude >> 23) - 127, format.least_exponent);
}

}  // namespace bitproof::reference::gemm_kernel
#endif  // HWY_ONCE
