#include "reference/rounded_add.h"

#include <cstddef>

// Compiled once per instruction set; HWY_DYNAMIC_DISPATCH takes the best one that this processor has.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "reference/rounded_add.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace bitproof::reference {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Fp32 = hn::ScalableTag<float>;
using Bits32 = hn::RebindToUnsigned<Fp32>;
using Bits16 = hn::Rebind<std::uint16_t, Bits32>;

template <class V>
HWY_INLINE hn::Vec<Fp32> widen(Bf16, V bits) {
  return hn::BitCast(Fp32(), hn::ShiftLeft<16>(bits));
}

template <class V>
HWY_INLINE hn::Vec<Fp32> widen(Fp16, V bits) {
  const Bits32 d;
  const Fp32 df;
  const V magnitude = hn::And(bits, hn::Set(d, 0x7FFF));
  const V sign = hn::ShiftLeft<16>(hn::Xor(bits, magnitude));
  const V shifted = hn::ShiftLeft<13>(magnitude);
  const V normal = hn::Add(shifted, hn::Set(d, 112u << 23));
  // 2^-14 * (1 + fraction) - 2^-14.
  const V subnormal =
      hn::BitCast(d, hn::Sub(hn::BitCast(df, hn::Add(shifted, hn::Set(d, 113u << 23))), hn::Set(df, 0x1p-14f)));
  const V not_finite = hn::Or(shifted, hn::Set(d, 0x7F800000u));
  V result = hn::IfThenElse(hn::Lt(magnitude, hn::Set(d, 0x0400)), subnormal, normal);
  result = hn::IfThenElse(hn::Gt(magnitude, hn::Set(d, 0x7BFF)), not_finite, result);
  return hn::BitCast(df, hn::Or(result, sign));
}

// Adds half an ULP less one, and one more when the result would be odd; the bits below kDropped are garbage
// after that.
template <int kDropped, class V>
HWY_INLINE V shift_right_to_nearest_even(V bits) {
  const Bits32 d;
  const V odd = hn::And(hn::ShiftRight<kDropped>(bits), hn::Set(d, 1));
  return hn::ShiftRight<kDropped>(hn::Add(hn::Add(bits, hn::Set(d, (1u << (kDropped - 1)) - 1)), odd));
}

template <class V>
HWY_INLINE V with_sign_and_nan(V rounded_magnitude, V magnitude, V sign) {
  const Bits32 d;
  const auto is_nan = hn::Gt(magnitude, hn::Set(d, 0x7F800000u));
  return hn::IfThenElse(is_nan, hn::Set(d, 0x7FFF), hn::Or(rounded_magnitude, hn::ShiftRight<16>(sign)));
}

HWY_INLINE hn::Vec<Bits32> round_to(Bf16, hn::Vec<Fp32> value) {
  const Bits32 d;
  const auto bits = hn::BitCast(d, value);
  const auto magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFFu));
  return with_sign_and_nan(shift_right_to_nearest_even<16>(magnitude), magnitude, hn::Xor(bits, magnitude));
}

HWY_INLINE hn::Vec<Bits32> round_to(Fp16, hn::Vec<Fp32> value) {
  const Bits32 d;
  const Fp32 df;
  const auto bits = hn::BitCast(d, value);
  const auto magnitude = hn::And(bits, hn::Set(d, 0x7FFFFFFFu));
  const auto normal =
      hn::Min(shift_right_to_nearest_even<13>(hn::Sub(magnitude, hn::Set(d, 112u << 23))), hn::Set(d, 0x7C00));
  // In [0.5, 1) an FP32 ULP is the smallest subnormal of FP16: this add rounds.
  const auto subnormal =
      hn::Sub(hn::BitCast(d, hn::Add(hn::BitCast(df, magnitude), hn::Set(df, 0.5f))), hn::Set(d, 0x3F000000u));
  const auto is_subnormal = hn::Lt(magnitude, hn::Set(d, 113u << 23));
  return with_sign_and_nan(hn::IfThenElse(is_subnormal, subnormal, normal), magnitude,
                           hn::Xor(bits, magnitude));
}

template <Half T>
HWY_INLINE hn::Vec<Fp32> load(const T* from) {
  const auto* bits = reinterpret_cast<const std::uint16_t*>(from);
  return widen(T{}, hn::PromoteTo(Bits32(), hn::LoadU(Bits16(), bits)));
}

template <Half T>
HWY_INLINE void store_sum(hn::Vec<Fp32> a, hn::Vec<Fp32> b, T* to) {
  const auto sum = round_to(T{}, hn::Add(a, b));
  hn::StoreU(hn::TruncateTo(Bits16(), sum), Bits16(), reinterpret_cast<std::uint16_t*>(to));
}

template <Half T>
HWY_INLINE void add_arrays(const T* a, const T* b, T* out, std::size_t count) {
  const std::size_t lanes = hn::Lanes(Bits32());
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) store_sum(load(a + i), load(b + i), out + i);
  for (; i < count; ++i) out[i] = reference::add_rounded(a[i], b[i]);
}

template <Half T>
HWY_INLINE void add_to_array(T a, const T* b, T* out, std::size_t count) {
  const std::size_t lanes = hn::Lanes(Bits32());
  const auto broadcast = widen(a, hn::Set(Bits32(), a.bits));
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) store_sum(broadcast, load(b + i), out + i);
  for (; i < count; ++i) out[i] = reference::add_rounded(a, b[i]);
}

// Integer arithmetic without branches: the compiler vectorises this loop for the target at hand.
template <Half T>
HWY_INLINE void add_integer_to_array(T a, const T* b, T* out, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) out[i] = reference::add_rounded_integer(a, b[i]);
}

// What HWY_EXPORT can name: functions that are not templates.
void AddBf16(const Bf16* a, const Bf16* b, Bf16* out, std::size_t count) { add_arrays(a, b, out, count); }
void AddFp16(const Fp16* a, const Fp16* b, Fp16* out, std::size_t count) { add_arrays(a, b, out, count); }
void AddToBf16(Bf16 a, const Bf16* b, Bf16* out, std::size_t count) { add_to_array(a, b, out, count); }
void AddToFp16(Fp16 a, const Fp16* b, Fp16* out, std::size_t count) { add_to_array(a, b, out, count); }
void AddIntegerBf16(Bf16 a, const Bf16* b, Bf16* out, std::size_t count) {
  add_integer_to_array(a, b, out, count);
}
void AddIntegerFp16(Fp16 a, const Fp16* b, Fp16* out, std::size_t count) {
  add_integer_to_array(a, b, out, count);
}

}  // namespace HWY_NAMESPACE
}  // namespace bitproof::reference
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <stdexcept>

namespace bitproof::reference {

HWY_EXPORT(AddBf16);
HWY_EXPORT(AddFp16);
HWY_EXPORT(AddToBf16);
HWY_EXPORT(AddToFp16);
HWY_EXPORT(AddIntegerBf16);
HWY_EXPORT(AddIntegerFp16);

namespace {
void require_length(std::size_t got, std::size_t expected) {
  if (got != expected) throw std::invalid_argument("rounded add: spans differ in length");
}
}  // namespace

template <>
void add_rounded(std::span<const Bf16> a, std::span<const Bf16> b, std::span<Bf16> out) {
  require_length(a.size(), out.size());
  require_length(b.size(), out.size());
  HWY_DYNAMIC_DISPATCH(AddBf16)(a.data(), b.data(), out.data(), out.size());
}

template <>
void add_rounded(std::span<const Fp16> a, std::span<const Fp16> b, std::span<Fp16> out) {
  require_length(a.size(), out.size());
  require_length(b.size(), out.size());
  HWY_DYNAMIC_DISPATCH(AddFp16)(a.data(), b.data(), out.data(), out.size());
}

template <>
void add_rounded(Bf16 a, std::span<const Bf16> b, std::span<Bf16> out) {
  require_length(b.size(), out.size());
  HWY_DYNAMIC_DISPATCH(AddToBf16)(a, b.data(), out.data(), out.size());
}

template <>
void add_rounded(Fp16 a, std::span<const Fp16> b, std::span<Fp16> out) {
  require_length(b.size(), out.size());
  HWY_DYNAMIC_DISPATCH(AddToFp16)(a, b.data(), out.data(), out.size());
}

template <>
void add_rounded_integer(Bf16 a, std::span<const Bf16> b, std::span<Bf16> out) {
  require_length(b.size(), out.size());
  HWY_DYNAMIC_DISPATCH(AddIntegerBf16)(a, b.data(), out.data(), out.size());
}

template <>
void add_rounded_integer(Fp16 a, std::span<const Fp16> b, std::span<Fp16> out) {
  require_length(b.size(), out.size());
  HWY_DYNAMIC_DISPATCH(AddIntegerFp16)(a, b.data(), out.data(), out.size());
}

}  // namespace bitproof::reference
#endif  // HWY_ONCE
