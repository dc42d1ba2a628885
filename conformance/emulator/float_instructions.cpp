// FP32 arithmetic, comparisons and the special-function unit.
#include <array>

#include "conformance/emulator/arithmetic.h"
#include "conformance/emulator/instruction_table.h"
#include "conformance/emulator/warp.h"
#include "reference/sfu.h"

namespace bitproof::conformance::emulator {
namespace {

// |x| and -x work on the sign bit, of NaNs too.
struct FloatSource : Source {
  FloatSource(const Warp& warp, const Operand& operand)
      : Source(warp, operand),
        keep_(operand.absolute ? ~kSignBit : ~0u),
        flip_(operand.negate ? kSignBit : 0u) {}
  std::uint32_t operator[](int lane) const { return (Source::operator[](lane) & keep_) ^ flip_; }

 private:
  std::uint32_t keep_, flip_;
};

Float32Mode mode_of(const Instruction& in) { return {in.mode[0] != 0, static_cast<Rounding>(in.mode[1])}; }
bool is_plain(const Instruction& in) { return in.mode[0] == 0 && in.mode[1] == 0; }

void fadd(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]), b(warp, in.operands[2]);
  Lanes out;
  if (is_plain(in)) {
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = canonical(as_float(a[lane]) + as_float(b[lane]));
  } else {
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = add32(a[lane], b[lane], mode_of(in));
  }
  warp.write(in.operands[0], out, mask);
}

void fmul(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]), b(warp, in.operands[2]);
  Lanes out;
  if (is_plain(in)) {
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = canonical(as_float(a[lane]) * as_float(b[lane]));
  } else {
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = multiply32(a[lane], b[lane], mode_of(in));
  }
  warp.write(in.operands[0], out, mask);
}

void ffma(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]), b(warp, in.operands[2]), c(warp, in.operands[3]);
  Lanes out;
  if (is_plain(in)) {
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = canonical(std::fma(as_float(a[lane]), as_float(b[lane]), as_float(c[lane])));
  } else {
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] = fused_multiply_add32(a[lane], b[lane], c[lane], mode_of(in));
  }
  warp.write(in.operands[0], out, mask);
}

// The smaller where the predicate is true, else the larger. A NaN loses against a number; -0 is below +0.
void fmnmx(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]), b(warp, in.operands[2]);
  const std::uint32_t smaller = warp.predicate(in.operands[3]);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) {
    const Float32Mode mode{in.mode[0] != 0, Rounding::nearest};
    const float x = start(a[lane], mode), y = start(b[lane], mode);
    const bool x_below = x < y || (x == y && std::signbit(x));
    const bool take_x = y != y || (x == x && x_below == ((smaller >> lane & 1) != 0));
    out[lane] = canonical(take_x ? x : y);
  }
  warp.write(in.operands[0], out, mask);
}

void fsel(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]), b(warp, in.operands[2]);
  const std::uint32_t first = warp.predicate(in.operands[3]);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = (first >> lane & 1) != 0 ? a[lane] : b[lane];
  warp.write(in.operands[0], out, mask);
}

// In the order of the mnemonic's group: the ordered comparisons, then those that are true of NaNs.
bool compare(int comparison, float a, float b) {
  constexpr int kUnordered = 6;
  if (a != a || b != b) return comparison >= kUnordered;
  switch (comparison % kUnordered) {
    case 0:
      return a < b;
    case 1:
      return a == b;
    case 2:
      return a <= b;
    case 3:
      return a > b;
    case 4:
      return a != b;
    default:
      return a >= b;
  }
}

// p = combine(comparison, q), second p = combine(not comparison, q).
void fsetp(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[2]), b(warp, in.operands[3]);
  const bool flush = in.mode[1] != 0;
  Lanes flags;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t x = flush ? flushed(a[lane]) : a[lane], y = flush ? flushed(b[lane]) : b[lane];
    flags[lane] = compare(in.mode[0], as_float(x), as_float(y)) ? 1 : 0;
  }
  const std::uint32_t result = pack(flags), combined = warp.predicate(in.operands[4]);
  warp.write_predicate(in.operands[0], combine_predicates(in.mode[2], result, combined), mask);
  warp.write_predicate(in.operands[1], combine_predicates(in.mode[2], ~result, combined), mask);
}

using UnitFunction = float (*)(float);
constexpr std::array<UnitFunction, 6> kUnitFunctions{
    reference::sfu::ex2_approx_ftz,  reference::sfu::rcp_approx_ftz, reference::sfu::rsqrt_approx_ftz,
    reference::sfu::sqrt_approx_ftz, reference::sfu::lg2_approx_ftz, reference::sfu::tanh_approx};

void mufu(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]);
  const UnitFunction function = kUnitFunctions[in.mode[0]];
  Lanes out{};
  for (int lane = 0; lane < kLanes; ++lane)
    if ((mask >> lane & 1) != 0) out[lane] = std::bit_cast<std::uint32_t>(function(as_float(a[lane])));
  warp.write(in.operands[0], out, mask);
}

template <bool kWide>
void i2f_unsigned(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Source low(warp, in.operands[1]), high(warp, in.operands[1], kWide ? 1 : 0);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t value = kWide ? std::uint64_t{high[lane]} << 32 | low[lane] : low[lane];
    out[lane] = std::bit_cast<std::uint32_t>(from_unsigned(value, static_cast<Rounding>(in.mode[0])));
  }
  warp.write(in.operands[0], out, mask);
}

void f2i_u32(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = static_cast<std::uint32_t>(to_unsigned(as_float(flushed(a[lane])), 32, 0));
  warp.write(in.operands[0], out, mask);
}

void f2i_u64(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const FloatSource a(warp, in.operands[1]);
  constexpr std::uint64_t kOfNan = std::uint64_t{1} << 63;
  Lanes low, high;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint64_t value = to_unsigned(as_float(a[lane]), 64, kOfNan);
    low[lane] = static_cast<std::uint32_t>(value);
    high[lane] = static_cast<std::uint32_t>(value >> 32);
  }
  warp.write(in.operands[0], low, mask);
  warp.write(in.operands[0], high, mask, 1);
}

constexpr std::array kEntries{
    InstructionEntry{"FADD[.FTZ][.RM|.RP|.RZ]", "d f f", fadd, Control::none, Proof::card,
                     "a + b, rounded once; PTX add.f32"},
    InstructionEntry{"FMUL[.FTZ][.RM|.RP|.RZ]", "d f f", fmul, Control::none, Proof::card,
                     "a * b, rounded once; PTX mul.f32"},
    InstructionEntry{"FFMA[.FTZ][.RM|.RP|.RZ]", "d f f f", ffma, Control::none, Proof::card,
                     "a * b + c, rounded once; PTX fma.f32"},
    InstructionEntry{"FMNMX[.FTZ]", "d f f q", fmnmx, Control::none, Proof::card,
                     "q ? min : max, a NaN loses; PTX min.f32, max.f32"},
    InstructionEntry{"FSEL", "d f f q", fsel, Control::none, Proof::card,
                     "q ? a : b, bits unchanged; PTX selp.f32"},
    InstructionEntry{"FSETP{.LT|.EQ|.LE|.GT|.NE|.GE|.LTU|.EQU|.LEU|.GTU|.NEU|.GEU}[.FTZ]{.AND|.OR|.XOR}",
                     "p p f f q", fsetp, Control::none, Proof::card,
                     "p = (a cmp b) op q, second p = !(a cmp b) op q; PTX setp.f32"},
    InstructionEntry{"MUFU{.EX2|.RCP|.RSQ|.SQRT|.LG2|.TANH}", "d f", mufu, Control::none, Proof::card,
                     "the special-function unit, reference/sfu.h; PTX ex2.approx.ftz.f32 and the like"},
    InstructionEntry{"I2F.U32[.RM|.RP|.RZ]", "d i", i2f_unsigned<false>, Control::none, Proof::card,
                     "an unsigned integer to FP32, rounded once; PTX cvt.rp.f32.u32"},
    InstructionEntry{"I2F.U64[.RM|.RP|.RZ]", "d l", i2f_unsigned<true>, Control::none, Proof::card,
                     "an unsigned integer to FP32, rounded once; PTX cvt.rp.f32.u64"},
    InstructionEntry{"I2FP.F32.U32[.RM|.RP|.RZ]", "d i", i2f_unsigned<false>, Control::none, Proof::card,
                     "an unsigned integer to FP32, rounded once; PTX cvt.rn.f32.u32"},
    InstructionEntry{"UI2F.U32[.RM|.RP|.RZ]", "d i", i2f_unsigned<false>, Control::none, Proof::argued,
                     "I2F in the uniform datapath; PTX cvt.rp.f32.u32"},
    InstructionEntry{"F2I.FTZ.U32.TRUNC.NTZ", "d f", f2i_u32, Control::none, Proof::card,
                     "FP32 to 32 bits toward zero, clamped, NaN to 0; PTX cvt.rzi.ftz.u32.f32"},
    InstructionEntry{"F2I.U64.TRUNC", "D f", f2i_u64, Control::none, Proof::card,
                     "FP32 to 64 bits toward zero, clamped, NaN to 2^63; PTX cvt.rzi.u64.f32"},
};

}  // namespace

std::span<const InstructionEntry> float_instructions() { return kEntries; }

}  // namespace bitproof::conformance::emulator
