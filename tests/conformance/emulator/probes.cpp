#include "tests/conformance/emulator/probes.h"

#include "conformance/digest.h"

namespace bitproof::conformance::emulator {
namespace {

using enum ProbeKind;
using enum ProbeOperands;

constexpr std::array kProbes{
    Probe{"fadd_rn", "FADD R", lanes, fp32},
    Probe{"fadd_rz", "FADD.RZ", lanes, fp32},
    Probe{"fadd_rm", "FADD.RM", lanes, fp32},
    Probe{"fadd_rp", "FADD.RP", lanes, fp32},
    Probe{"fadd_rn_ftz", "FADD.FTZ R", lanes, fp32},
    Probe{"fadd_rz_ftz", "FADD.FTZ.RZ", lanes, fp32},
    Probe{"fadd_rm_ftz", "FADD.FTZ.RM", lanes, fp32},
    Probe{"fadd_rp_ftz", "FADD.FTZ.RP", lanes, fp32},
    Probe{"fadd_signs", "FADD", lanes, fp32},
    Probe{"fmul_rn", "FMUL R", lanes, fp32},
    Probe{"fmul_rz", "FMUL.RZ", lanes, fp32},
    Probe{"fmul_rm", "FMUL.RM", lanes, fp32},
    Probe{"fmul_rp", "FMUL.RP", lanes, fp32},
    Probe{"fmul_rn_ftz", "FMUL.FTZ R", lanes, fp32},
    Probe{"fmul_rz_ftz", "FMUL.FTZ.RZ", lanes, fp32},
    Probe{"fmul_rm_ftz", "FMUL.FTZ.RM", lanes, fp32},
    Probe{"fmul_rp_ftz", "FMUL.FTZ.RP", lanes, fp32},
    Probe{"fmul_signs", "FMUL", lanes, fp32},
    Probe{"ffma_rn", "FFMA R", lanes, fp32},
    Probe{"ffma_rz", "FFMA.RZ", lanes, fp32},
    Probe{"ffma_rm", "FFMA.RM", lanes, fp32},
    Probe{"ffma_rp", "FFMA.RP", lanes, fp32},
    Probe{"ffma_rn_ftz", "FFMA.FTZ R", lanes, fp32},
    Probe{"ffma_rz_ftz", "FFMA.FTZ.RZ", lanes, fp32},
    Probe{"ffma_rm_ftz", "FFMA.FTZ.RM", lanes, fp32},
    Probe{"ffma_rp_ftz", "FFMA.FTZ.RP", lanes, fp32},
    Probe{"ffma_signs", "FFMA", lanes, fp32},
    Probe{"fmin", "FMNMX R", lanes, fp32},
    Probe{"fmax", "FMNMX R", lanes, fp32},
    Probe{"fmin_ftz", "FMNMX.FTZ", lanes, fp32},
    Probe{"fmax_ftz", "FMNMX.FTZ", lanes, fp32},
    Probe{"fsetp", "FSETP", lanes, fp32},
    Probe{"fsetp_unordered", "FSETP", lanes, fp32},
    Probe{"fsetp_ftz", "FSETP", lanes, fp32},
    Probe{"fsel", "FSEL", lanes, fp32},
    Probe{"mufu_ex2", "MUFU.EX2", lanes, fp32},
    Probe{"mufu_rcp", "MUFU.RCP", lanes, fp32},
    Probe{"mufu_rsq", "MUFU.RSQ", lanes, fp32},
    Probe{"mufu_sqrt", "MUFU.SQRT", lanes, fp32},
    Probe{"mufu_lg2", "MUFU.LG2", lanes, fp32},
    Probe{"mufu_tanh", "MUFU.TANH", lanes, fp32},
    Probe{"mufu_signs", "MUFU", lanes, fp32},
    Probe{"i2f_rn", "I2F.U64", lanes, integer},
    Probe{"i2f_rz", "I2F.U64.RZ", lanes, integer},
    Probe{"i2f_rm", "I2F.U64.RM", lanes, integer},
    Probe{"i2f_rp", "I2F.U64.RP", lanes, integer},
    Probe{"f2i_u32", "F2I.FTZ.U32.TRUNC.NTZ", lanes, fp32},
    Probe{"f2i_u64", "F2I.U64.TRUNC", lanes, fp32},
    Probe{"hadd2", "HFMA2.MMA R", lanes, half},
    Probe{"hadd2_minus", "HFMA2.MMA R", lanes, half},
    Probe{"hadd2_bf16", "HFMA2.MMA.BF16_V2", lanes, half},
    Probe{"hadd2_f32", "HADD2.F32", lanes, half},
    Probe{"hfma2", "HFMA2", lanes, half},
    Probe{"hfma2_bf16", "HFMA2", lanes, half},
    Probe{"hadd2_many", "HADD2 R", lanes, half},
    Probe{"hadd2_bf16_many", "HADD2.BF16_V2", lanes, half},
    Probe{"f2fp_f16", "F2FP.F16.F32.PACK_AB", lanes, fp32},
    Probe{"f2fp_bf16", "F2FP.BF16.F32.PACK_AB", lanes, fp32},
    Probe{"prmt", "PRMT", lanes, integer},
    Probe{"prmt_constant", "PRMT", lanes, integer},
    Probe{"lop3", "LOP3.LUT", lanes, integer},
    Probe{"lop3_predicate", "LOP3.LUT P", lanes, integer},
    Probe{"shift_32", "SHF.L.U32", lanes, integer},
    Probe{"shift_signed", "SHF.R.S32.HI", lanes, integer},
    Probe{"shift_left_64", "SHF.L.U32", lanes, integer},
    Probe{"shift_right_64", "SHF.R.U64", lanes, integer},
    Probe{"shift_right_s64", "SHF.R.S32.HI", lanes, integer},
    Probe{"shift_variable_64", "SHF.", lanes, integer},
    Probe{"iadd3", "IADD3 R", lanes, integer},
    Probe{"iadd_64", "IADD3.X", lanes, integer},
    Probe{"isub_64", "IADD3.X", lanes, integer},
    Probe{"iadd3_64", "IADD3.X", lanes, integer},
    Probe{"isub3_64", "IADD3.X", lanes, integer},
    Probe{"ineg_64", "IADD3", lanes, integer},
    Probe{"imad", "IMAD R", lanes, integer},
    Probe{"imad_wide", "IMAD.WIDE.U32", lanes, integer},
    Probe{"imad_wide_signed", "IMAD.WIDE R", lanes, integer},
    Probe{"imad_high", "IMAD.HI.U32", lanes, integer},
    Probe{"multiply_64", "IMAD.WIDE.U32", lanes, integer},
    Probe{"multiply_high_64", "IMAD.WIDE.U32.X", lanes, integer},
    Probe{"lea", "LEA R", lanes, integer},
    Probe{"lea_64", "LEA.HI.X", lanes, integer},
    Probe{"divide_by_8", "LEA.HI", lanes, integer},
    Probe{"divide_32", "IMAD.HI.U32", lanes, integer},
    Probe{"divide_u64", "CALL.REL.NOINC", lanes, integer},
    Probe{"remainder_s64", "RET.REL.NODEC", lanes, integer},
    Probe{"isetp", "ISETP.GE.U32.AND", lanes, integer},
    Probe{"isetp_64", "ISETP.GE.U32.AND.EX", lanes, integer},
    Probe{"isetp_64_near", "ISETP", lanes, integer},
    Probe{"isetp_or", "ISETP", lanes, integer},
    Probe{"sel", "SEL", lanes, integer},
    Probe{"minimum_64", "SEL", lanes, integer},
    Probe{"divergence", "BSSY", lanes, integer},
    Probe{"load_narrow", "LDG.E.U8", lanes, integer},
    Probe{"load_wide", "LDG.E.128", lanes, integer},
    Probe{"store_widths", "STG.E.128", lanes, integer},
    Probe{"uniform_arithmetic", "LEA.HI.SX32", uniform, integer},
    Probe{"uniform_division", "CALL.REL.NOINC", uniform, integer},
    Probe{"uniform_blocks", "USHF.R.S64", uniform, integer},
    Probe{"uniform_stride", "UIMAD.WIDE.U32", uniform, integer},
    Probe{"uniform_stride_signed", "U", uniform, integer},
    Probe{"special_registers", "S2R", special_registers, integer},
};

constexpr std::array<std::uint32_t, 47> kFp32{
    0x00000000, 0x80000000,                          // zeros
    0x00000001, 0x80000001, 0x007FFFFF, 0x807FFFFF,  // subnormals
    0x00400000, 0x00800000, 0x80800000, 0x00800001,  // around the smallest normal number
    0x3F800000, 0xBF800000, 0x3F800001, 0x3F7FFFFF,  // around 1
    0x3F000000, 0x40000000, 0x40400000, 0xC0400000, 0x33800000, 0x33800001,
    0xB3800000, 0xB37FFFFF,                                                  // 2^-24, half an ULP of 1
    0x34000000, 0x4B800000, 0x4B7FFFFF,                                      // 2^-23, 2^24
    0x4F000000, 0x4F7FFFFF, 0x4F800000, 0x5F000000, 0x5F7FFFFF, 0x5F800000,  // 2^31, 2^32, 2^63, 2^64
    0x477FE000, 0x477FEFFF, 0x477FF000, 0x33000000, 0x33000001, 0x387FF000,  // the ends of fp16
    0x3F808000, 0x3F818000,                                                  // ties of bf16
    0x7F7FFFFF, 0xFF7FFFFF, 0x7F800000, 0xFF800000, 0x7FC00000, 0xFFC00000,
    0x7F800001, 0xFFFFFFFF,  // quiet and signalling NaNs
};
constexpr std::array<std::uint32_t, 40> kHalf{0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400,
                                              0x3C00, 0xBC00, 0x3C01, 0x3BFF, 0x7BFF, 0xFBFF, 0x7C00, 0xFC00,
                                              0x7C01, 0x7E00, 0xFE00, 0x7FFF, 0xFFFF, 0x3F80, 0xBF80, 0x3F81,
                                              0x3F7F, 0x0080, 0x8080, 0x007F, 0x7F7F, 0xFF7F, 0x7F80, 0xFF80,
                                              0x7F81, 0x7FC0, 0x4000, 0x4040, 0x3555, 0x1400, 0x0200, 0x6400};
constexpr std::array<std::uint32_t, 32> kInteger{
    0,          1,          2,          3,          7,          8,          15,         16,
    31,         32,         33,         63,         64,         0x7FFF,     0x8000,     0xFFFF,
    0x10000,    0x3210,     0x7610,     0xFEDC,     0x00FFFFFF, 0x01000000, 0x55555555, 0xAAAAAAAA,
    0x01234567, 0x89ABCDEF, 0x7FFFFFFE, 0x7FFFFFFF, 0x80000000, 0x80000001, 0xFFFFFFFE, 0xFFFFFFFF};

std::uint64_t noise(std::uint64_t index, std::uint64_t stream) { return mix64(mix64(stream) + index); }

std::span<const std::uint32_t> specials(ProbeOperands kind) {
  if (kind == fp32) return kFp32;
  if (kind == half) return kHalf;
  return kInteger;
}

// Any bits; or an exponent near that of the other operands, so that sums cancel and round; or few bits.
std::uint32_t random_operand(ProbeOperands kind, std::uint64_t index, std::uint64_t stream) {
  const std::uint64_t bits = noise(index, stream);
  const auto any = static_cast<std::uint32_t>(bits);
  const auto shape = static_cast<std::uint32_t>(noise(index, 77) & 3);
  if (kind == fp32 && shape != 0) {
    const auto spread = shape == 1 ? bits >> 32 & 3 : bits >> 32 & 31;
    const std::uint64_t base = shape == 3 ? 1 + (noise(index, 78) & 15) : 100 + (noise(index, 78) & 63);
    return (any & 0x807FFFFFu) | static_cast<std::uint32_t>(base + spread) << 23;
  }
  if (kind == integer && shape == 1) return any >> (bits >> 32 & 31);
  return any;
}

std::uint32_t special_operand(ProbeOperands kind, std::uint64_t which, std::uint64_t index,
                              std::uint64_t stream) {
  const std::span<const std::uint32_t> values = specials(kind);
  if (kind != half) return values[which];
  return values[which] | values[noise(index, stream) % values.size()] << 16;
}

}  // namespace

std::span<const Probe> probes() { return kProbes; }

LaneOperands lane_operands(ProbeOperands kind) {
  const std::uint64_t size = specials(kind).size(), triples = size * size * size;
  LaneOperands operands;
  for (std::uint64_t i = 0; i < kProbeElements; ++i) {
    const bool special = i < triples;
    operands.a.push_back(special ? special_operand(kind, i % size, i, 1) : random_operand(kind, i, 1));
    operands.b.push_back(special ? special_operand(kind, i / size % size, i, 2) : random_operand(kind, i, 2));
    operands.c.push_back(special ? special_operand(kind, i / size / size, i, 3) : random_operand(kind, i, 3));
    operands.d.push_back(special ? special_operand(kind, noise(i, 4) % size, i, 5)
                                 : random_operand(kind, i, 4));
  }
  return operands;
}

UniformParameters uniform_parameters(std::uint32_t launch) {
  const auto word = [launch](std::uint64_t stream) {
    const std::uint64_t bits = noise(launch, 100 + stream);
    return (bits & 1) != 0 ? kInteger[bits >> 8 & 31]
                           : static_cast<std::uint32_t>(bits >> 32) >> (bits >> 8 & 31);
  };
  const auto long_word = [&](std::uint64_t stream) {
    const bool is_short = (noise(launch, 110 + stream) & 3) == 0;
    const std::uint64_t high = is_short ? 0 : word(stream + 1);
    return static_cast<std::int64_t>(high << 32 | word(stream));
  };
  return {long_word(0), long_word(2), static_cast<std::int32_t>(word(4)), static_cast<std::int32_t>(word(5)),
          nullptr};
}

std::uint32_t result_words(ProbeKind kind) {
  switch (kind) {
    case lanes:
      return 2 * kProbeElements;
    case uniform:
      return 2 * kUniformLaunches * kUniformBlocks * kUniformResults;
    case special_registers:
      return kSpecialThreads;
  }
  return 0;
}

std::uint64_t probe_digest(std::span<const std::uint32_t> words) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words.size(); ++i) sum += digest_term(1, i, words[i]);
  return sum;
}

}  // namespace bitproof::conformance::emulator
