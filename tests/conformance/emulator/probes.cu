// Kernels of one instruction each (or of one small group that belongs together): what they return on a card is
// what the emulator must return. The instruction is written in PTX; which SASS it becomes, probes_test.cpp
// reads from the listing.
#include <cstdint>

namespace {

__device__ __forceinline__ float as_float(std::uint32_t bits) { return __uint_as_float(bits); }
__device__ __forceinline__ std::uint32_t as_bits(float x) { return __float_as_uint(x); }
__device__ __forceinline__ std::uint64_t wide(std::uint32_t low, std::uint32_t high) {
  return std::uint64_t{high} << 32 | low;
}

}  // namespace

// A thread has operands a, b, c, d and leaves results r and s.
#define BITPROOF_PROBE(name, ...)                                                                              \
  extern "C" __global__ void probe_##name(const std::uint32_t* as, const std::uint32_t* bs,                    \
                                          const std::uint32_t* cs, const std::uint32_t* ds, std::uint32_t* rs, \
                                          std::uint32_t* ss, std::uint32_t count) {                            \
    const std::uint32_t i = blockIdx.x * 256u + threadIdx.x;                                                   \
    if (i >= count) return;                                                                                    \
    [[maybe_unused]] const std::uint32_t a = as[i], b = bs[i], c = cs[i], d = ds[i];                           \
    std::uint32_t r = 0, s = 0;                                                                                \
    __VA_ARGS__                                                                                                \
    rs[i] = r;                                                                                                 \
    ss[i] = s;                                                                                                 \
  }
#define BITPROOF_UNARY(name, instruction) BITPROOF_PROBE(name, asm(instruction " %0, %1;" : "=r"(r) : "r"(a));)
#define BITPROOF_BINARY(name, instruction) \
  BITPROOF_PROBE(name, asm(instruction " %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b));)
#define BITPROOF_TERNARY(name, instruction) \
  BITPROOF_PROBE(name, asm(instruction " %0, %1, %2, %3;" : "=r"(r) : "r"(a), "r"(b), "r"(c));)

// FP32 in every rounding, with and without flushing.
#define BITPROOF_ROUNDINGS(kind, name, operation) \
  kind(name##_rn, operation ".rn.f32");           \
  kind(name##_rz, operation ".rz.f32");           \
  kind(name##_rm, operation ".rm.f32");           \
  kind(name##_rp, operation ".rp.f32");           \
  kind(name##_rn_ftz, operation ".rn.ftz.f32");   \
  kind(name##_rz_ftz, operation ".rz.ftz.f32");   \
  kind(name##_rm_ftz, operation ".rm.ftz.f32");   \
  kind(name##_rp_ftz, operation ".rp.ftz.f32")
BITPROOF_ROUNDINGS(BITPROOF_BINARY, fadd, "add");
BITPROOF_ROUNDINGS(BITPROOF_BINARY, fmul, "mul");
BITPROOF_ROUNDINGS(BITPROOF_TERNARY, ffma, "fma");

BITPROOF_PROBE(fadd_signs, r = as_bits(__fadd_rn(-fabsf(as_float(a)), fabsf(as_float(b))));
               s = as_bits(__fadd_rn(-as_float(a), 0.5f));)
BITPROOF_PROBE(fmul_signs, r = as_bits(__fmul_rn(-fabsf(as_float(a)), as_float(b)));
               s = as_bits(__fmul_rn(as_float(a), 2.8853900432586669922f));)
BITPROOF_PROBE(ffma_signs, r = as_bits(__fmaf_rn(-as_float(a), fabsf(as_float(b)), -as_float(c)));
               s = as_bits(__fmaf_rn(fabsf(as_float(a)), as_float(b), -5.1036477088928222656e-07f));)

BITPROOF_BINARY(fmin, "min.f32")
BITPROOF_BINARY(fmax, "max.f32")
BITPROOF_BINARY(fmin_ftz, "min.ftz.f32")
BITPROOF_BINARY(fmax_ftz, "max.ftz.f32")

#define BITPROOF_COMPARE(bit, comparison) \
  {                                       \
    std::uint32_t holds, combined;        \
    asm("{.reg .pred p, q, e;\n"          \
        " setp.ne.u32 e, %4, 0;\n"        \
        " setp." comparison               \
        ".f32 p, %2, %3;\n"               \
        " selp.u32 %0, 1, 0, p;\n"        \
        " setp." comparison               \
        ".f32 q, %2, %3;\n"               \
        " and.pred q, q, e;\n"            \
        " selp.u32 %1, 1, 0, q;}"         \
        : "=r"(holds), "=r"(combined)     \
        : "r"(a), "r"(b), "r"(c & 1));    \
    r |= holds << bit;                    \
    s |= combined << bit;                 \
  }
BITPROOF_PROBE(fsetp, BITPROOF_COMPARE(0, "lt") BITPROOF_COMPARE(1, "eq") BITPROOF_COMPARE(2, "le")
                          BITPROOF_COMPARE(3, "gt") BITPROOF_COMPARE(4, "ne") BITPROOF_COMPARE(5, "ge"))
BITPROOF_PROBE(fsetp_unordered,
               BITPROOF_COMPARE(0, "ltu") BITPROOF_COMPARE(1, "equ") BITPROOF_COMPARE(2, "leu")
                   BITPROOF_COMPARE(3, "gtu") BITPROOF_COMPARE(4, "neu") BITPROOF_COMPARE(5, "geu"))
BITPROOF_PROBE(fsetp_ftz,
               BITPROOF_COMPARE(0, "lt.ftz") BITPROOF_COMPARE(1, "eq.ftz") BITPROOF_COMPARE(2, "le.ftz")
                   BITPROOF_COMPARE(3, "gt.ftz") BITPROOF_COMPARE(4, "ne.ftz") BITPROOF_COMPARE(5, "ge.ftz"))
BITPROOF_PROBE(fsel, asm("{.reg .pred p; setp.gt.f32 p, %3, 0f3F19999A; selp.f32 %0, %1, %2, p;}"
                         : "=r"(r)
                         : "r"(a), "r"(b), "r"(c));
               s = as_bits(as_float(c) >= 9.010913848876953125f ? 1.0f : as_float(a));)

BITPROOF_UNARY(mufu_ex2, "ex2.approx.ftz.f32")
BITPROOF_UNARY(mufu_rcp, "rcp.approx.ftz.f32")
BITPROOF_UNARY(mufu_rsq, "rsqrt.approx.ftz.f32")
BITPROOF_UNARY(mufu_sqrt, "sqrt.approx.ftz.f32")
BITPROOF_UNARY(mufu_lg2, "lg2.approx.ftz.f32")
BITPROOF_UNARY(mufu_tanh, "tanh.approx.f32")
BITPROOF_PROBE(mufu_signs, asm("{.reg .f32 x; neg.f32 x, %1; ex2.approx.ftz.f32 %0, x;}"
                               : "=r"(r)
                               : "r"(a));
               asm("{.reg .f32 x; abs.f32 x, %1; rcp.approx.ftz.f32 %0, x;}"
                   : "=r"(s)
                   : "r"(a));)

#define BITPROOF_FROM_INTEGER(name, rounding)                 \
  BITPROOF_PROBE(name, asm("cvt." rounding ".f32.u32 %0, %1;" \
                           : "=r"(r)                          \
                           : "r"(a));                         \
                 asm("cvt." rounding ".f32.u64 %0, %1;"       \
                     : "=r"(s)                                \
                     : "l"(wide(a, b)));)
BITPROOF_FROM_INTEGER(i2f_rn, "rn")
BITPROOF_FROM_INTEGER(i2f_rz, "rz")
BITPROOF_FROM_INTEGER(i2f_rm, "rm")
BITPROOF_FROM_INTEGER(i2f_rp, "rp")
BITPROOF_UNARY(f2i_u32, "cvt.rzi.ftz.u32.f32")
BITPROOF_PROBE(f2i_u64, std::uint64_t x; asm("cvt.rzi.u64.f32 %0, %1;"
                                             : "=l"(x)
                                             : "r"(a));
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)

BITPROOF_BINARY(hadd2, "add.rn.f16x2")
BITPROOF_BINARY(hadd2_minus, "sub.rn.f16x2")
BITPROOF_BINARY(hadd2_bf16, "add.rn.bf16x2")
BITPROOF_PROBE(hadd2_f32, asm("{.reg .b16 x, y; mov.b32 {x, y}, %2; cvt.f32.f16 %0, x; cvt.f32.f16 %1, y;}"
                              : "=r"(r), "=r"(s)
                              : "r"(a));)
BITPROOF_TERNARY(hfma2, "fma.rn.f16x2")
BITPROOF_TERNARY(hfma2_bf16, "fma.rn.bf16x2")
// Several adds, of which the compiler sends some to the FMA pipe, as a * 1 + b.
BITPROOF_PROBE(hadd2_many, std::uint32_t x, y; asm("add.rn.f16x2 %0, %1, %2;"
                                                   : "=r"(x)
                                                   : "r"(a), "r"(b));
               asm("add.rn.f16x2 %0, %1, %2;"
                   : "=r"(y)
                   : "r"(c), "r"(d));
               asm("add.rn.f16x2 %0, %1, %2;"
                   : "=r"(r)
                   : "r"(a), "r"(d));
               asm("add.rn.f16x2 %0, %1, %2;"
                   : "=r"(s)
                   : "r"(x), "r"(y));)
BITPROOF_PROBE(hadd2_bf16_many, std::uint32_t x, y; asm("add.rn.bf16x2 %0, %1, %2;"
                                                        : "=r"(x)
                                                        : "r"(a), "r"(b));
               asm("add.rn.bf16x2 %0, %1, %2;"
                   : "=r"(y)
                   : "r"(c), "r"(d));
               asm("add.rn.bf16x2 %0, %1, %2;"
                   : "=r"(r)
                   : "r"(a), "r"(d));
               asm("add.rn.bf16x2 %0, %1, %2;"
                   : "=r"(s)
                   : "r"(x), "r"(y));)
BITPROOF_BINARY(f2fp_f16, "cvt.rn.f16x2.f32")
BITPROOF_BINARY(f2fp_bf16, "cvt.rn.bf16x2.f32")

BITPROOF_TERNARY(prmt, "prmt.b32")
BITPROOF_PROBE(prmt_constant, asm("prmt.b32 %0, %1, %2, 0x7610;"
                                  : "=r"(r)
                                  : "r"(a), "r"(b));
               asm("prmt.b32 %0, %1, %2, 0xb9a8;"
                   : "=r"(s)
                   : "r"(a), "r"(b));)
BITPROOF_PROBE(lop3, asm("lop3.b32 %0, %1, %2, %3, 0xb8;"
                         : "=r"(r)
                         : "r"(a), "r"(b), "r"(c));
               asm("lop3.b32 %0, %1, %2, %3, 0x1d;"
                   : "=r"(s)
                   : "r"(a), "r"(b), "r"(d));)
BITPROOF_PROBE(lop3_predicate, r = (a & 3) != 0 ? b : c; s = (a & b & 0x10101) != 0 ? 1 : d;)

BITPROOF_PROBE(shift_32, asm("shl.b32 %0, %1, %2;"
                             : "=r"(r)
                             : "r"(a), "r"(b & 63));
               asm("shr.u32 %0, %1, %2;"
                   : "=r"(s)
                   : "r"(a), "r"(c & 63));)
BITPROOF_PROBE(shift_signed, asm("shr.s32 %0, %1, %2;" : "=r"(r) : "r"(a), "r"(b & 63)); s = a >> 28 | b << 3;)
BITPROOF_PROBE(shift_left_64, const std::uint64_t x = wide(a, b) << 3; r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(shift_right_64, const std::uint64_t x = wide(a, b) >> 5; r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(shift_right_s64, const std::int64_t x = static_cast<std::int64_t>(wide(a, b)) >> 5;
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(shift_variable_64, const std::uint64_t x = wide(a, b) << (c & 63);
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(wide(a, b) >> (d & 63));)

BITPROOF_PROBE(iadd3, r = a + b + c; s = a - b - d;)
BITPROOF_PROBE(iadd_64, const std::uint64_t x = wide(a, b) + wide(c, d); r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(isub_64, const std::uint64_t x = wide(a, b) - wide(c, d); r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(iadd3_64, const std::uint64_t x = wide(a, b) + wide(c, d) + wide(b, a);
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(isub3_64, const std::uint64_t x = wide(a, b) - wide(c, d) - wide(b, a);
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(ineg_64, const std::uint64_t x = 0 - wide(a, b); r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(imad, r = a * b + c; s = a * 12u + d;)
BITPROOF_PROBE(imad_wide, const std::uint64_t x = std::uint64_t{a} * b + wide(c, d);
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(imad_wide_signed, const std::int64_t x = std::int64_t{static_cast<std::int32_t>(a)} *
                                                            static_cast<std::int32_t>(b) +
                                                        static_cast<std::int64_t>(wide(c, d));
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(imad_high, r = __umulhi(a, b); asm("mad.hi.u32 %0, %1, %2, %3;"
                                                  : "=r"(s)
                                                  : "r"(a), "r"(c), "r"(d));)
BITPROOF_PROBE(multiply_64, const std::uint64_t x = wide(a, b) * wide(c, d); r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(multiply_high_64, const std::uint64_t x = __umul64hi(wide(a, b), wide(c, d));
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(lea, r = (a << 2) + b; s = (c << 4) + d;)
BITPROOF_PROBE(lea_64, const std::uint64_t x = (wide(a, b) << 1) + wide(c, d);
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(divide_by_8, const std::int64_t x = static_cast<std::int64_t>(wide(a, b)) / 8;
               r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(static_cast<std::int32_t>(c) / 16);)
BITPROOF_PROBE(divide_32, r = b == 0 ? 0 : a / b; s = d == 0 ? 0 : c % d;)
// Divisors of all lengths: both the short way through 32 bits and the called function.
BITPROOF_PROBE(divide_u64, const std::uint64_t y = wide(c, d) >> (a & 63);
               const std::uint64_t x = y == 0 ? 0 : wide(a, b) / y; r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(x >> 32);)
BITPROOF_PROBE(remainder_s64, const std::int64_t y = static_cast<std::int64_t>(wide(c, d)) >> (a & 63);
               const std::int64_t x = y == 0 || y == -1 ? 0 : static_cast<std::int64_t>(wide(a, b)) % y;
               r = static_cast<std::uint32_t>(x); s = static_cast<std::uint32_t>(x >> 32);)

#define BITPROOF_SIX(x, y)                                                          \
  (std::uint32_t{x < y} | std::uint32_t{x == y} << 1 | std::uint32_t{x <= y} << 2 | \
   std::uint32_t{x > y} << 3 | std::uint32_t{x != y} << 4 | std::uint32_t{x >= y} << 5)
BITPROOF_PROBE(isetp, const auto x = static_cast<std::int32_t>(a), y = static_cast<std::int32_t>(b);
               r = BITPROOF_SIX(a, b); s = BITPROOF_SIX(x, y);)
BITPROOF_PROBE(isetp_64, const auto x = static_cast<std::int64_t>(wide(a, b)),
               y = static_cast<std::int64_t>(wide(c, d));
               r = BITPROOF_SIX(wide(a, b), wide(c, d)); s = BITPROOF_SIX(x, y);)
BITPROOF_PROBE(isetp_64_near, const auto x = static_cast<std::int64_t>(wide(a, b)),
               y = static_cast<std::int64_t>(wide(c, b));
               r = BITPROOF_SIX(wide(a, b), wide(c, b)); s = BITPROOF_SIX(x, y);)
BITPROOF_PROBE(isetp_or, r = a < b || c == d ? a : d; s = (a < b) != (c < d) ? b : c;)
BITPROOF_PROBE(sel, r = (a & 1) != 0 ? b : c; s = static_cast<std::int32_t>(d) < 0 ? 0xFFFFFFFFu : a;)
BITPROOF_PROBE(minimum_64, const std::uint64_t x = min(wide(a, b), wide(c, d));
               r = static_cast<std::uint32_t>(x);
               s = static_cast<std::uint32_t>(max(static_cast<long long>(wide(a, b)),
                                                  static_cast<long long>(wide(c, d))));)

// Lanes part, in loops of different lengths and nested branches, and meet again.
BITPROOF_PROBE(
    divergence, std::uint32_t x = a & 0xFF; while (x > 1) {
      if ((x & 1) != 0) {
        if ((x & b & 6) == 6) s ^= x;
        x = 3 * x + 1;
      } else {
        x /= 2;
      }
      ++r;
      if (r > 60) break;
    } s += r * c;)

// Loads and stores of every width; the arrays are seen as bytes.
BITPROOF_PROBE(load_narrow, r = reinterpret_cast<const std::uint8_t*>(as)[i] |
                                reinterpret_cast<const std::uint16_t*>(bs)[i] << 8;
               s = static_cast<std::uint32_t>(reinterpret_cast<const std::int8_t*>(cs)[i]) +
                   static_cast<std::uint32_t>(reinterpret_cast<const std::int16_t*>(ds)[i]);)
BITPROOF_PROBE(load_wide, const uint2 x = reinterpret_cast<const uint2*>(as)[i / 2];
               const uint4 y = reinterpret_cast<const uint4*>(bs)[i / 4]; r = x.x ^ x.y * 3;
               s = y.x + 3 * y.y + 5 * y.z + 7 * y.w;)
extern "C" __global__ void probe_store_widths(const std::uint32_t* as, const std::uint32_t* bs,
                                              const std::uint32_t* cs, const std::uint32_t* ds,
                                              std::uint32_t* rs, std::uint32_t* ss, std::uint32_t count) {
  const std::uint32_t i = blockIdx.x * 256u + threadIdx.x;
  if (i >= count) return;
  const std::uint32_t a = as[i], b = bs[i], c = cs[i], d = ds[i];
  // Of 32 words, 16 go to 128-bit stores, 8 to 64-bit, 4 to 32-bit, 3 to 16-bit and the rest to bytes.
  std::uint32_t* const line = rs + (i / 32) * 32;
  const std::uint32_t lane = i % 32;
  if (lane < 4) reinterpret_cast<uint4*>(line)[lane] = make_uint4(a, b, c, d);
  if (lane >= 4 && lane < 8) reinterpret_cast<uint2*>(line)[lane + 4] = make_uint2(a, b);
  if (lane >= 8 && lane < 12) line[lane + 16] = c;
  if (lane >= 12 && lane < 18)
    reinterpret_cast<std::uint16_t*>(line)[lane + 44] = static_cast<std::uint16_t>(d);
  if (lane >= 18 && lane < 22) reinterpret_cast<std::uint8_t*>(line)[lane + 106] = static_cast<std::uint8_t>(a);
  ss[i] = lane;
}

// The same value for all lanes, from kernel parameters and blockIdx: the uniform datapath. A block has one
// thread and 16 results of its own.
#define BITPROOF_UNIFORM_PROBE(name, ...)                                                                 \
  extern "C" __global__ void probe_##name(std::int64_t p, std::int64_t q, std::int32_t m, std::int32_t n, \
                                          std::int64_t* results) {                                        \
    std::int64_t* const r = results + 16 * blockIdx.x;                                                    \
    __VA_ARGS__                                                                                           \
  }
BITPROOF_UNIFORM_PROBE(
    uniform_arithmetic, r[0] = p / 8 * q; r[1] = q < 0 ? -q : q; r[2] = p + (q << 2); r[3] = p - q;
    r[4] = m / 16 + n;
    r[5] = static_cast<std::int64_t>(static_cast<std::uint32_t>(m)) * static_cast<std::uint32_t>(n) + p;
    r[6] = m < n ? p : q; r[7] = (p >> 5) ^ (q << 7);
    r[8] = static_cast<std::uint32_t>(m) >> 3 | static_cast<std::uint32_t>(n) << 3; r[9] = p < q ? m : n;)
BITPROOF_UNIFORM_PROBE(uniform_division, r[0] = q == 0 ? 0 : p % q;
                       r[1] = n == 0 ? 0 : static_cast<std::uint32_t>(m) / static_cast<std::uint32_t>(n);)
BITPROOF_UNIFORM_PROBE(uniform_blocks, const std::int64_t first = blockIdx.x * p + (q >> 3);
                       const std::int32_t scaled = m * static_cast<std::int32_t>(blockIdx.x) + n;
                       for (std::int64_t i = blockIdx.x; i < (q & 15); i += gridDim.x)
                           r[4] = first + i * scaled;
                       r[0] = first; r[1] = scaled; r[2] = blockIdx.x < p ? first : -first;
                       r[3] = (first << 2) + q;)
// As the published one-pass kernel finds its bias: a loop over p & 15 rows of q / 8 vectors, and remainders.
BITPROOF_UNIFORM_PROBE(uniform_stride, const std::int64_t width = (q & 1023) / 8;
                       const std::int64_t count = (p & 15) * width; std::int64_t sum = 0;
                       for (std::int64_t i = std::int64_t{blockIdx.x} * 4 + threadIdx.x; i < count;
                            i += std::int64_t{gridDim.x} * 4) sum = 3 * sum + i % width;
                       r[0] = sum; r[1] = count;)
BITPROOF_UNIFORM_PROBE(uniform_stride_signed, const std::int64_t width = q / 8;
                       const std::int64_t count = (p & 63) * width; std::int64_t sum = 0; int steps = 0;
                       for (std::int64_t i = std::int64_t{blockIdx.x} * 4 + threadIdx.x;
                            i < count && steps < 20; i += std::int64_t{gridDim.x} * 4, ++steps)
                           sum = 3 * sum + i % width;
                       r[0] = sum; r[1] = count;)
// Where a thread stands, in three dimensions of both.
extern "C" __global__ void probe_special_registers(std::uint32_t* results) {
  const std::uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const std::uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  std::uint32_t lane;
  asm("mov.u32 %0, %%laneid;" : "=r"(lane));
  results[block * blockDim.x * blockDim.y * blockDim.z + thread] =
      threadIdx.x | threadIdx.y << 4 | threadIdx.z << 8 | blockIdx.x << 12 | blockIdx.y << 16 |
      blockIdx.z << 20 | lane << 24;
}
