#include "reference/linear/gemm_kernel.h"

#include <array>
#include <cstdint>

// Vectors without a fixed size cannot be members of a structure.
#define HWY_DISABLED_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

// Compiled once for each vector instruction set that Highway knows of this architecture, chosen when first
// called.
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

void Accumulate(const TensorCoreFormat& format, const PackedRows& rows, const PackedPanel& panel,
                float* accumulators) {
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

// The alignments at which FP32 holds everything exactly: no product overflows (below 2^(126 + 2)), 2^(25 - E)
// is a number, and what underflows is less than the unit 2^(E - 25). The other ones go through the scalar rule.
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
#elif HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
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

// sum toward zero to 24 significant bits: where |sum| >= 2^24, the set bits of |sum| >> 24 mark at least the
// highest of the bits to be dropped; without it the rest is below half a unit, and rounding to nearest rounds
// down.
HWY_INLINE Floats ConvertTowardZero(Ints sum) {
  const IntTag di;
  const FloatTag df;
  const Ints magnitude = hn::Abs(sum);
  const Floats result = hn::ConvertTo(df, hn::AndNot(hn::ShiftRight<24>(magnitude), magnitude));
  return hn::BitCast(df, hn::Or(hn::BitCast(di, result), hn::And(sum, hn::Set(di, INT32_MIN))));
}

// How some columns are aligned in one step.
struct Alignment {
  Ints exponent;             // E, clamped to where the vector path is exact
  Floats to_units;           // 2^(25 - E)
  hn::Mask<IntTag> outside;  // lanes whose E was out of that range
};

HWY_INLINE Alignment Align(Ints product_exponent, Floats c) {
  const IntTag di;
  const Ints exponent = hn::Max(product_exponent, ExponentOfAccumulator(c));
  const Ints clamped =
      hn::Min(hn::Max(exponent, hn::Set(di, kLeastFastAlignment)), hn::Set(di, kLargestFastAlignment));
  // Without a nonzero term any unit will do.
  const auto all_zero = hn::Lt(exponent, hn::Set(di, kZeroProduct));
  return {.exponent = clamped,
          .to_units = PowerOfTwo(hn::Sub(hn::Set(di, kTensorCoreAlignedBits), clamped)),
          .outside = hn::AndNot(all_zero, hn::Ne(exponent, clamped))};
}

// The lanes that the vector path cannot do, replaced.
HWY_NOINLINE Floats StepOfLanes(hn::Mask<IntTag> which, const TensorCoreFormat& format, const float* row,
                                const float* columns, Floats c, Floats otherwise) {
  const IntTag di;
  const FloatTag df;
  HWY_ALIGN float results[hn::MaxLanes(df)];
  HWY_ALIGN float accumulators[hn::MaxLanes(df)];
  HWY_ALIGN std::int32_t selected[hn::MaxLanes(di)];
  hn::Store(otherwise, df, results);
  hn::Store(c, df, accumulators);
  hn::Store(hn::VecFromMask(di, which), di, selected);
  for (std::size_t lane = 0; lane < hn::Lanes(df); ++lane) {
    if (selected[lane] != 0) results[lane] = StepOfLane(format, row, columns + lane, accumulators[lane]);
  }
  return hn::Load(df, results);
}

// The end of a step: `products` is the sum of the products in units of 2^(E - 25).
HWY_INLINE Floats AddAccumulator(const TensorCoreFormat& format, const float* row, const float* columns,
                                 const Alignment& alignment, Ints products, Floats c) {
  const IntTag di;
  // 16 products of two significands below 2 are less than 2^31 units, and |c| is less than 2^26.
  const auto overflows = hn::Gt(hn::Abs(products), hn::Set(di, INT32_MAX - (1 << 26)));
  const Ints sum = hn::Add(products, Truncate(hn::Mul(c, alignment.to_units)));
  const Floats from_units = PowerOfTwo(hn::Sub(alignment.exponent, hn::Set(di, kTensorCoreAlignedBits)));
  const Floats result = hn::Mul(ConvertTowardZero(sum), from_units);
  const auto scalar = hn::Or(alignment.outside, overflows);
  if (HWY_LIKELY(hn::AllFalse(di, scalar))) return result;
  return StepOfLanes(scalar, format, row, columns, c, result);
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

void Accumulate(const TensorCoreFormat& format, const PackedRows& rows, const PackedPanel& panel,
                float* accumulators) {
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
        const Alignment low_alignment = Align(hn::PromoteTo(di, hn::LowerHalf(half16, exponents)), low);
        const Alignment high_alignment = Align(hn::PromoteTo(di, hn::UpperHalf(half16, exponents)), high);
        Ints low_sum = hn::Zero(di), high_sum = hn::Zero(di);
        for (std::size_t i = 0; i < kTensorCoreStep; ++i) {
          const Floats x = hn::Set(df, row[i]);
          const float* const w = columns + i * kPanelColumns;
          low_sum = hn::Add(low_sum, Truncate(hn::Mul(hn::Mul(x, hn::Load(df, w)), low_alignment.to_units)));
          high_sum =
              hn::Add(high_sum, Truncate(hn::Mul(hn::Mul(x, hn::Load(df, w + half)), high_alignment.to_units)));
        }
        low = AddAccumulator(format, row, columns, low_alignment, low_sum, low);
        high = AddAccumulator(format, row, columns + half, high_alignment, high_sum, high);
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

void accumulate(const TensorCoreFormat& format, const PackedRows& rows, const PackedPanel& panel,
                float* accumulators) {
  HWY_DYNAMIC_DISPATCH(Accumulate)(format, rows, panel, accumulators);
}

}  // namespace bitproof::reference::gemm_kernel
#endif  // HWY_ONCE
