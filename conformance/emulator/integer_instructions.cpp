// Integer arithmetic, shifts, logic and comparisons, of 32 and 64 bits, in both datapaths. A uniform
// instruction computes the same in all lanes here and keeps one result.
#include <array>

#include "conformance/emulator/instruction_table.h"
#include "conformance/emulator/warp.h"

namespace bitproof::conformance::emulator {
namespace {

using U64 = std::uint64_t;

// An addend: -x is ~x plus one, so that the carry of x = 0 is that of a subtraction.
struct Addend : Source {
  Addend(const Warp& warp, const Operand& operand, int part = 0)
      : Source(warp, operand, part),
        flip_(operand.negate || operand.invert ? ~0u : 0u),
        one_(operand.negate ? 1u : 0u) {}
  U64 operator[](int lane) const { return U64{Source::operator[](lane) ^ flip_} + one_; }
  std::uint32_t word(int lane) const { return (Source::operator[](lane) ^ flip_) + one_; }

 private:
  std::uint32_t flip_, one_;
};

// A 64-bit source.
struct Wide {
  Wide(const Warp& warp, const Operand& operand)
      : low_(warp, operand, 0), high_(warp, operand, 1), op_(operand) {}
  U64 raw(int lane) const { return U64{high_[lane]} << 32 | low_[lane]; }
  U64 operator[](int lane) const {
    const U64 value = op_.invert ? ~raw(lane) : raw(lane);
    return op_.negate ? U64{0} - value : value;
  }

 private:
  Source low_, high_;
  const Operand& op_;
};

void write_wide(Warp& warp, const Operand& destination, const std::array<U64, kLanes>& values,
                std::uint32_t mask) {
  Lanes low, high;
  for (int lane = 0; lane < kLanes; ++lane) {
    low[lane] = static_cast<std::uint32_t>(values[static_cast<std::size_t>(lane)]);
    high[lane] = static_cast<std::uint32_t>(values[static_cast<std::size_t>(lane)] >> 32);
  }
  warp.write(destination, low, mask);
  warp.write(destination, high, mask, 1);
}

std::uint32_t bit(std::uint32_t bits, int lane) { return bits >> lane & 1; }

// With two carries: the sum can reach 3 * 2^32 - 1. The first predicate says that it carried once, the second
// that it carried twice, so that both together are what the next word needs.
void add_three(Warp& warp, const Instruction& in, std::uint32_t mask, std::uint32_t carry_a,
               std::uint32_t carry_b) {
  const Addend a(warp, in.operands[3]), b(warp, in.operands[4]), c(warp, in.operands[5]);
  Lanes out, once, twice;
  for (int lane = 0; lane < kLanes; ++lane) {
    const U64 sum = a[lane] + b[lane] + c[lane] + bit(carry_a, lane) + bit(carry_b, lane);
    out[lane] = static_cast<std::uint32_t>(sum);
    once[lane] = sum >> 32 != 0 ? 1 : 0;
    twice[lane] = sum >> 33 != 0 ? 1 : 0;
  }
  warp.write(in.operands[0], out, mask);
  warp.write_predicate(in.operands[1], pack(once), mask);
  warp.write_predicate(in.operands[2], pack(twice), mask);
}

bool is_lost(const Operand& predicate) {
  return predicate.kind == OperandKind::none || predicate.index == kTruePredicate;
}

void iadd3(Warp& warp, const Instruction& in, std::uint32_t mask) {
  if (!is_lost(in.operands[1]) || !is_lost(in.operands[2])) {
    add_three(warp, in, mask, 0, 0);
    return;
  }
  const Addend a(warp, in.operands[3]), b(warp, in.operands[4]), c(warp, in.operands[5]);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = a.word(lane) + b.word(lane) + c.word(lane);
  warp.write(in.operands[0], out, mask);
}

void iadd3_x(Warp& warp, const Instruction& in, std::uint32_t mask) {
  add_three(warp, in, mask, warp.predicate(in.operands[6]), warp.predicate(in.operands[7]));
}

void viadd(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Addend a(warp, in.operands[1]), b(warp, in.operands[2]);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = a.word(lane) + b.word(lane);
  warp.write(in.operands[0], out, mask);
}

void iadd_64(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Wide a(warp, in.operands[1]), b(warp, in.operands[2]);
  std::array<U64, kLanes> out;
  for (int lane = 0; lane < kLanes; ++lane) out[static_cast<std::size_t>(lane)] = a[lane] + b[lane];
  write_wide(warp, in.operands[0], out, mask);
}

// Its predicates must be UPT: what they would carry is not known.
void uiadd3_64(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Wide a(warp, in.operands[3]), b(warp, in.operands[4]), c(warp, in.operands[5]);
  std::array<U64, kLanes> out;
  for (int lane = 0; lane < kLanes; ++lane) out[static_cast<std::size_t>(lane)] = a[lane] + b[lane] + c[lane];
  write_wide(warp, in.operands[0], out, mask);
}

void multiply_add(Warp& warp, const Instruction& in, std::uint32_t mask, std::uint32_t carry) {
  const Addend a(warp, in.operands[1]), b(warp, in.operands[2]), c(warp, in.operands[3]);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane)
    out[lane] = a.word(lane) * b.word(lane) + c.word(lane) + bit(carry, lane);
  warp.write(in.operands[0], out, mask);
}

void imad(Warp& warp, const Instruction& in, std::uint32_t mask) { multiply_add(warp, in, mask, 0); }

void imad_x(Warp& warp, const Instruction& in, std::uint32_t mask) {
  multiply_add(warp, in, mask, warp.predicate(in.operands[4]));
}

// a * b + c in 64 bits; the predicate is the carry of the addition.
template <bool kHighOnly>
void imad_wide(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const std::uint32_t carry_in =
      in.operands[5].kind == OperandKind::none ? 0 : warp.predicate(in.operands[5]);  // .X
  const Addend a(warp, in.operands[2]), b(warp, in.operands[3]);
  const Wide c(warp, in.operands[4]);
  const bool is_signed = in.mode[0] == 0;
  std::array<U64, kLanes> out;
  Lanes carry;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t x = a.word(lane), y = b.word(lane);
    const U64 product = is_signed ? static_cast<U64>(std::int64_t{static_cast<std::int32_t>(x)} *
                                                     std::int64_t{static_cast<std::int32_t>(y)})
                                  : U64{x} * y;
    const U64 with_c = product + c[lane], sum = with_c + bit(carry_in, lane);
    out[static_cast<std::size_t>(lane)] = kHighOnly ? sum >> 32 : sum;
    carry[lane] = with_c < product || sum < with_c ? 1 : 0;
  }
  if constexpr (kHighOnly) {
    Lanes high;
    for (int lane = 0; lane < kLanes; ++lane)
      high[lane] = static_cast<std::uint32_t>(out[static_cast<std::size_t>(lane)]);
    warp.write(in.operands[0], high, mask);
  } else {
    write_wide(warp, in.operands[0], out, mask);
  }
  warp.write_predicate(in.operands[1], pack(carry), mask);
}

// What an address needs: a scaled index plus a base; `scaled` is a number of more than 32 bits or its upper
// word.
void add_scaled(Warp& warp, const Instruction& in, std::uint32_t mask, const Lanes& scaled, const Operand& base,
                std::uint32_t carry_in) {
  const Addend b(warp, base);
  Lanes out, carry;
  for (int lane = 0; lane < kLanes; ++lane) {
    const U64 sum = U64{scaled[lane]} + b[lane] + bit(carry_in, lane);
    out[lane] = static_cast<std::uint32_t>(sum);
    carry[lane] = sum >> 32 != 0 ? 1 : 0;
  }
  warp.write(in.operands[0], out, mask);
  warp.write_predicate(in.operands[1], pack(carry), mask);
}

void lea(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Addend a(warp, in.operands[2]);
  Lanes scaled;
  for (int lane = 0; lane < kLanes; ++lane) scaled[lane] = a.word(lane) << in.operands[4].value;
  add_scaled(warp, in, mask, scaled, in.operands[3], 0);
}

void lea_high(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const std::uint32_t carry_in =
      in.operands[6].kind == OperandKind::none ? 0 : warp.predicate(in.operands[6]);  // .X
  const Addend a(warp, in.operands[2]), c(warp, in.operands[4]);
  Lanes scaled;
  for (int lane = 0; lane < kLanes; ++lane)
    scaled[lane] =
        static_cast<std::uint32_t>((U64{c.word(lane)} << 32 | a.word(lane)) << in.operands[5].value >> 32);
  add_scaled(warp, in, mask, scaled, in.operands[3], carry_in);
}

// The upper word of a << n with a sign-extended to 64 bits, plus b.
void lea_high_signed(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Addend a(warp, in.operands[2]);
  Lanes scaled;
  for (int lane = 0; lane < kLanes; ++lane) {
    const auto extended = static_cast<U64>(std::int64_t{static_cast<std::int32_t>(a.word(lane))});
    scaled[lane] = static_cast<std::uint32_t>(extended << in.operands[4].value >> 32);
  }
  add_scaled(warp, in, mask, scaled, in.operands[3], 0);
}

// (c:a) shifted by b; .U32 and .S32 shift one word, which the other's being RZ makes sure of (program.cpp).
// Shifts of the width and more shift everything out.
void shf(Warp& warp, const Instruction& in, std::uint32_t mask) {
  enum Direction { left, right };
  enum Type { u32, s32, u64, s64 };
  const Source a(warp, in.operands[1]), b(warp, in.operands[2]), c(warp, in.operands[3]);
  const bool is_left = in.mode[0] == left, high = in.mode[2] != 0;
  const bool is_signed = in.mode[1] == s32 || in.mode[1] == s64;
  const int width = in.mode[1] == u32 || in.mode[1] == s32 ? 32 : 64;
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t word = high ? c[lane] : a[lane];
    U64 value = width == 64 ? U64{c[lane]} << 32 | a[lane]
                : is_signed ? static_cast<U64>(std::int64_t{static_cast<std::int32_t>(word)})
                            : word;
    const std::uint32_t shift = b[lane];
    if (shift >= static_cast<std::uint32_t>(width)) {
      value = !is_left && is_signed && (value >> 63) != 0 ? ~U64{0} : 0;
    } else if (is_left) {
      value <<= shift;
    } else {
      value = is_signed ? static_cast<U64>(static_cast<std::int64_t>(value) >> shift) : value >> shift;
    }
    out[lane] = static_cast<std::uint32_t>(width == 64 && high ? value >> 32 : value);
  }
  warp.write(in.operands[0], out, mask);
}

// Bit i of the table is the result for a, b, c = bits 2, 1, 0 of i.
void lop3(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Addend a(warp, in.operands[2]), b(warp, in.operands[3]), c(warp, in.operands[4]);
  const auto table = static_cast<std::uint32_t>(in.operands[5].value);
  Lanes out{}, nonzero;
  for (std::uint32_t row = 0; row < 8; ++row) {
    if ((table >> row & 1) == 0) continue;
    const std::uint32_t flip_a = (row & 4) != 0 ? 0 : ~0u, flip_b = (row & 2) != 0 ? 0 : ~0u,
                        flip_c = (row & 1) != 0 ? 0 : ~0u;
    for (int lane = 0; lane < kLanes; ++lane)
      out[lane] |= (a.word(lane) ^ flip_a) & (b.word(lane) ^ flip_b) & (c.word(lane) ^ flip_c);
  }
  for (int lane = 0; lane < kLanes; ++lane) nonzero[lane] = out[lane] != 0 ? 1 : 0;
  warp.write(in.operands[1], out, mask);
  warp.write_predicate(in.operands[0], pack(nonzero), mask);
}

// Two results from two tables of 8, as lop3 has them.
void plop3(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const std::uint32_t a = warp.predicate(in.operands[2]), b = warp.predicate(in.operands[3]),
                      c = warp.predicate(in.operands[4]);
  const auto look_up = [&](std::int64_t table) {
    std::uint32_t bits = 0;
    for (int row = 0; row < 8; ++row)
      if ((table >> row & 1) != 0)
        bits |= ((row & 4) != 0 ? a : ~a) & ((row & 2) != 0 ? b : ~b) & ((row & 1) != 0 ? c : ~c);
    return bits;
  };
  warp.write_predicate(in.operands[0], look_up(in.operands[5].value), mask);
  warp.write_predicate(in.operands[1], look_up(in.operands[6].value), mask);
}

// Each nibble of b picks one of the 8 bytes of (c:a); with its upper bit, that byte's sign eight times.
void prmt(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Source a(warp, in.operands[1]), b(warp, in.operands[2]), c(warp, in.operands[3]);
  Lanes out;
  for (int lane = 0; lane < kLanes; ++lane) {
    const U64 bytes = U64{c[lane]} << 32 | a[lane];
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      const std::uint32_t nibble = b[lane] >> (4 * i) & 15;
      auto byte = static_cast<std::uint32_t>(bytes >> (8 * (nibble & 7)) & 255);
      if ((nibble & 8) != 0) byte = (byte & 128) != 0 ? 255 : 0;
      result |= byte << (8 * i);
    }
    out[lane] = result;
  }
  warp.write(in.operands[0], out, mask);
}

// In the order of the mnemonics' group.
enum class Comparison : std::uint8_t { less, equal, less_equal, greater, not_equal, greater_equal };

bool holds(Comparison comparison, bool less, bool equal) {
  switch (comparison) {
    case Comparison::less:
      return less;
    case Comparison::equal:
      return equal;
    case Comparison::less_equal:
      return less || equal;
    case Comparison::greater:
      return !less && !equal;
    case Comparison::not_equal:
      return !equal;
    case Comparison::greater_equal:
      return !less;
  }
  return false;
}

void write_comparison(Warp& warp, const Instruction& in, std::uint32_t mask, std::uint32_t result,
                      int operation) {
  const std::uint32_t combined = warp.predicate(in.operands[4]);
  warp.write_predicate(in.operands[0], combine_predicates(operation, result, combined), mask);
  warp.write_predicate(in.operands[1], combine_predicates(operation, ~result, combined), mask);
}

// .EX: the upper words of a 64-bit comparison, whose lower words' result is the last predicate. It decides
// where the upper words are equal.
void isetp(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Addend a(warp, in.operands[2]), b(warp, in.operands[3]);
  const auto comparison = static_cast<Comparison>(in.mode[0]);
  const bool is_unsigned = in.mode[1] != 0;
  const bool extended = in.operands[5].kind != OperandKind::none;
  const std::uint32_t of_low = extended ? warp.predicate(in.operands[5]) : 0;
  Lanes flags;
  for (int lane = 0; lane < kLanes; ++lane) {
    const std::uint32_t x = a.word(lane), y = b.word(lane);
    const bool less = is_unsigned ? x < y : static_cast<std::int32_t>(x) < static_cast<std::int32_t>(y);
    const bool equal = x == y;
    flags[lane] = (extended && equal ? bit(of_low, lane) != 0 : holds(comparison, less, equal)) ? 1 : 0;
  }
  write_comparison(warp, in, mask, pack(flags), in.mode[2]);
}

void isetp_64(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Wide a(warp, in.operands[2]), b(warp, in.operands[3]);
  const bool is_unsigned = in.mode[1] != 0;
  Lanes flags;
  for (int lane = 0; lane < kLanes; ++lane) {
    const U64 x = a[lane], y = b[lane];
    const bool less = is_unsigned ? x < y : static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
    flags[lane] = holds(static_cast<Comparison>(in.mode[0]), less, x == y) ? 1 : 0;
  }
  write_comparison(warp, in, mask, pack(flags), in.mode[2]);
}

// With !PT, and nothing else is accepted: the larger.
void imnmx_64(Warp& warp, const Instruction& in, std::uint32_t mask) {
  const Wide a(warp, in.operands[3]), b(warp, in.operands[4]);
  const bool is_unsigned = in.mode[0] != 0;
  std::array<U64, kLanes> out;
  for (int lane = 0; lane < kLanes; ++lane) {
    const U64 x = a[lane], y = b[lane];
    const bool less = is_unsigned ? x < y : static_cast<std::int64_t>(x) < static_cast<std::int64_t>(y);
    out[static_cast<std::size_t>(lane)] = less ? y : x;
  }
  write_wide(warp, in.operands[2], out, mask);
}

constexpr std::string_view kAdd = "a + b + c; first p: it carried, second p: it carried twice";
constexpr std::string_view kAddCarry = "a + b + c + the two carries; PTX addc, subc";
constexpr std::string_view kMultiplyAdd = "a * b + c, lower 32 bits; PTX mad.lo.u32";
constexpr std::string_view kWideMultiplyAdd = "a * b + c in 64 bits, p its carry; PTX mad.wide.u32";
constexpr std::string_view kScaled = "(a << n) + b, p the carry of the addition";
constexpr std::string_view kScaledHigh = "upper word of (c:a) << n, plus b, plus the carry q with .X";
constexpr std::string_view kShift = "(c:a) shifted by b, its lower word, or upper with .HI; PTX shf, shl, shr";
constexpr std::string_view kLogic = "bit by bit from a table of 8, p: the result is not 0; PTX lop3.b32";
constexpr std::string_view kCompare = "p = (a cmp b) op q, second p = !(a cmp b) op q; PTX setp";
constexpr std::string_view kCompareHigh =
    "upper words of a 64-bit comparison, the last q that of the lower words";

constexpr std::array kEntries{
    InstructionEntry{"IADD3", "d p? p? a a a", iadd3, Control::none, Proof::card, kAdd},
    InstructionEntry{"UIADD3", "d p? p? a a a", iadd3, Control::none, Proof::card, kAdd},
    InstructionEntry{"IADD3.X", "d p? p? x x x q q", iadd3_x, Control::none, Proof::card, kAddCarry},
    InstructionEntry{"UIADD3.X", "d p? p? x x x q q", iadd3_x, Control::none, Proof::card, kAddCarry},
    InstructionEntry{"VIADD", "d i a", viadd, Control::none, Proof::card, "a + b"},
    InstructionEntry{"IADD.64", "D L L", iadd_64, Control::none, Proof::argued,
                     "a + b in 64 bits; PTX add.s64"},
    InstructionEntry{"UIADD3.64", "D T T l l l", uiadd3_64, Control::none, Proof::argued,
                     "a + b + c in 64 bits"},
    InstructionEntry{"IMAD[.MOV|.IADD|.SHL][.U32]", "d i i a", imad, Control::none, Proof::card, kMultiplyAdd},
    InstructionEntry{"UIMAD", "d i i i", imad, Control::none, Proof::card, kMultiplyAdd},
    InstructionEntry{"IMAD.X", "d i i x q", imad_x, Control::none, Proof::card, "a * b + c + the carry q"},
    InstructionEntry{"IMAD.WIDE[.U32]", "D p? i i l", imad_wide<false>, Control::none, Proof::card,
                     kWideMultiplyAdd},
    InstructionEntry{"IMAD.WIDE[.U32].X", "D p? i i l q", imad_wide<false>, Control::none, Proof::card,
                     "a * b + c + the carry q in 64 bits, p its carry; PTX madc.wide.u32"},
    InstructionEntry{"UIMAD.WIDE[.U32]", "D p? i i l", imad_wide<false>, Control::none, Proof::card,
                     kWideMultiplyAdd},
    InstructionEntry{"IMAD.HI[.U32]", "d p? i i l", imad_wide<true>, Control::none, Proof::card,
                     "upper word of a * b + c in 64 bits, p its carry; PTX mad.hi.u32"},
    InstructionEntry{"LEA", "d p? i i n", lea, Control::none, Proof::card, kScaled},
    InstructionEntry{"ULEA", "d p? i i n", lea, Control::none, Proof::argued, kScaled},
    InstructionEntry{"LEA.HI", "d p? i i i n", lea_high, Control::none, Proof::card, kScaledHigh},
    InstructionEntry{"ULEA.HI", "d p? i i i n", lea_high, Control::none, Proof::card, kScaledHigh},
    InstructionEntry{"LEA.HI.X", "d p? i i i n q", lea_high, Control::none, Proof::card, kScaledHigh},
    InstructionEntry{"ULEA.HI.X", "d p? i i i n q", lea_high, Control::none, Proof::argued, kScaledHigh},
    InstructionEntry{"LEA.HI.SX32", "d p? i i n", lea_high_signed, Control::none, Proof::card,
                     "upper word of a << n, a sign-extended to 64 bits, plus b"},
    InstructionEntry{"SHF{.L|.R}{.U32|.S32|.U64|.S64}[.HI]", "d i i i", shf, Control::none, Proof::card,
                     kShift},
    InstructionEntry{"USHF{.L|.R}{.U32|.S32|.U64|.S64}[.HI]", "d i i i", shf, Control::none, Proof::card,
                     kShift},
    InstructionEntry{"LOP3.LUT", "p? d i i i n F", lop3, Control::none, Proof::card, kLogic},
    InstructionEntry{"ULOP3.LUT", "p? d i i i n F", lop3, Control::none, Proof::card, kLogic},
    InstructionEntry{"PLOP3.LUT", "p p q q q n n", plop3, Control::none, Proof::card,
                     "two predicates from three, each by a table of 8"},
    InstructionEntry{"PRMT", "d i i i", prmt, Control::none, Proof::card,
                     "four bytes of (c:a) by the nibbles of b; PTX prmt.b32"},
    InstructionEntry{"UPRMT", "d i i i", prmt, Control::none, Proof::argued,
                     "four bytes of (c:a) by the nibbles of b; PTX prmt.b32"},
    InstructionEntry{"ISETP{.LT|.EQ|.LE|.GT|.NE|.GE}[.U32]{.AND|.OR|.XOR}", "p p i i q", isetp, Control::none,
                     Proof::card, kCompare},
    InstructionEntry{"UISETP{.LT|.EQ|.LE|.GT|.NE|.GE}[.U32]{.AND|.OR|.XOR}", "p p i i q", isetp, Control::none,
                     Proof::card, kCompare},
    InstructionEntry{"ISETP{.LT|.EQ|.LE|.GT|.NE|.GE}[.U32]{.AND|.OR|.XOR}.EX", "p p i i q q", isetp,
                     Control::none, Proof::card, kCompareHigh},
    InstructionEntry{"UISETP{.LT|.EQ|.LE|.GT|.NE|.GE}[.U32]{.AND|.OR|.XOR}.EX", "p p i i q q", isetp,
                     Control::none, Proof::argued, kCompareHigh},
    InstructionEntry{"ISETP{.LT|.EQ|.LE|.GT|.NE|.GE}{.S64|.U64}{.AND|.OR|.XOR}", "p p l l q", isetp_64,
                     Control::none, Proof::argued, kCompare},
    InstructionEntry{"UISETP{.LT|.EQ|.LE|.GT|.NE|.GE}{.S64|.U64}{.AND|.OR|.XOR}", "p p l l q", isetp_64,
                     Control::none, Proof::argued, kCompare},
    InstructionEntry{"IMNMX{.S64|.U64}", "T T D l l F F", imnmx_64, Control::none, Proof::argued,
                     "the larger in 64 bits; PTX max.s64"},
};

}  // namespace

std::span<const InstructionEntry> integer_instructions() { return kEntries; }

}  // namespace bitproof::conformance::emulator
