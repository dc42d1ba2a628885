// Packed 16-bit arithmetic and conversions from FP32.
#include <array>

#include "conformance/emulator/arithmetic.h"
#include "conformance/emulator/instruction_table.h"
#include "conformance/emulator/warp.h"

namespace bitproof::conformance::emulator {
namespace {

using reference::Bf16;
using reference::Fp16;

// Two 16-bit numbers of a lane, chosen and signed as the operand says.
struct HalfSource : Source {
  HalfSource(const Warp& warp, const Operand& operand)
      : Source(warp, operand),
        low_shift_(operand.half == HalfSelect::high ? 16 : 0),
        high_shift_(operand.half == HalfSelect::low ? 0 : 16),
        keep_(operand.absolute ? 0x7FFFu : 0xFFFFu),
        flip_(operand.negate ? 0x8000u : 0u) {}
  std::uint32_t low(int lane) const { return pick(lane, low_shift_); }
  std::uint32_t high(int lane) const { return pick(lane, high_shift_); }

 private:
  std::uint32_t pick(int lane, int shift) const { return (Source::operator[](lane) >> shift & keep_) ^ flip_; }
  int low_shift_, high_shift_;
  std::uint32_t keep_, flip_;
};

template <reference::Half T>
Lanes add(const HalfSource& a, const HalfSource& b) {
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = add16<T>(a.low(lane), b.low(lane)) | add16<T>(a.high(lane), b.high(lane)) << 16;
  return out;
}

Lanes add_wide(const HalfSource& a, const HalfSource& b) {
  const auto wide = [](std::uint32_t bits) { return reference::widen(Fp16{static_cast<std::uint16_t>(bits)}); };
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = canonical(wide(a.low(lane)) + wide(b.low(lane)));
  return out;
}

void hadd2(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const HalfSource a(warp, in.operands[1]), b(warp, in.operands[2]);
  enum Form { fp16, fp32, bf16 };
  const Lanes out = in.mode[0] == fp32   ? add_wide(a, b)
                    : in.mode[0] == bf16 ? add<Bf16>(a, b)
                                         : add<Fp16>(a, b);
  warp.write(in.operands[0], out, mask);
}

template <reference::Half T>
Lanes multiply_add(const HalfSource& a, const HalfSource& b, const HalfSource& c, int lanes) {
  Lanes out{};
  for (int lane = 0; lane < lanes; ++lane)
    out[lane] = fused_multiply_add16<T>(a.low(lane), b.low(lane), c.low(lane)) |
                fused_multiply_add16<T>(a.high(lane), b.high(lane), c.high(lane)) << 16;
  return out;
}

bool is_same_in_all_lanes(const Operand& operand) {
  return operand.kind != OperandKind::vector_register || operand.index == kZeroRegister;
}

void hfma2(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const HalfSource a(warp, in.operands[1]), b(warp, in.operands[2]), c(warp, in.operands[3]);
  // 0 * 0 + constant is how the compiler loads constants.
  const bool is_constant = is_same_in_all_lanes(in.operands[1]) && is_same_in_all_lanes(in.operands[2]) &&
                           is_same_in_all_lanes(in.operands[3]);
  const int lanes = is_constant ? 1 : kLanes;
  Lanes out = in.mode[1] != 0 ? multiply_add<Bf16>(a, b, c, lanes) : multiply_add<Fp16>(a, b, c, lanes);
  if (is_constant) out.values.fill(out[0]);
  warp.write(in.operands[0], out, mask);
}

template <reference::Half T>
Lanes packed(const Source& high, const Source& low, const Operand& high_operand, const Operand& low_operand) {
  const auto rounded = [](std::uint32_t bits, const Operand& operand) -> std::uint32_t {
    if (operand.absolute) bits &= ~kSignBit;
    if (operand.negate) bits ^= kSignBit;
    return reference::round_to<T>(as_float(bits)).bits;
  };
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = rounded(high[lane], high_operand) << 16 | rounded(low[lane], low_operand);
  return out;
}

template <reference::Half T>
void f2fp(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Source high(warp, in.operands[1]), low(warp, in.operands[2]);
  warp.write(in.operands[0], packed<T>(high, low, in.operands[1], in.operands[2]), mask);
}

constexpr std::array kEntries{
    InstructionEntry{
        "HADD2[.F32|.BF16_V2]", "d h h", hadd2, Control::none, Proof::card,
        "a + b in both halves, each rounded once; .F32: of the first half, in FP32; PTX add.f16x2, "
        "cvt.f32.f16"},
    InstructionEntry{"HFMA2[.MMA][.BF16_V2]", "d h h h", hfma2, Control::none, Proof::card,
                     "a * b + c in both halves, each rounded once; PTX fma.rn.f16x2, fma.rn.bf16x2"},
    InstructionEntry{"F2FP[.F16.F32].PACK_AB", "d f f", f2fp<Fp16>, Control::none, Proof::card,
                     "a to the upper half, b to the lower, rounded to nearest even; PTX cvt.rn.f16x2.f32"},
    InstructionEntry{"F2FP.BF16[.F32].PACK_AB", "d f f", f2fp<Bf16>, Control::none, Proof::card,
                     "a to the upper half, b to the lower, rounded to nearest even; PTX cvt.rn.bf16x2.f32"},
};

}  // namespace

std::span<const InstructionEntry> half_instructions() { return kEntries; }

}  // namespace bitproof::conformance::emulator
