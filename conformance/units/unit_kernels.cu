#include "conformance/device/device_sum.h"
#include "conformance/digest.h"
#include "conformance/units/unit_kernels.h"
#include "kernels/cuda/device.h"
#include "kernels/half_pair.h"

namespace bitproof::conformance {

inline constexpr int kUnitThreads = 256;
inline constexpr int kUnitGrid = 2048;

// One special-function instruction of PTX.
#define BITPROOF_UNIT_INSTRUCTION(name, instruction) \
  __device__ __forceinline__ float name(float x) {   \
    float y;                                         \
    asm(instruction " %0, %1;" : "=f"(y) : "f"(x));  \
    return y;                                        \
  }
BITPROOF_UNIT_INSTRUCTION(unit_ex2, "ex2.approx.ftz.f32")
BITPROOF_UNIT_INSTRUCTION(unit_rcp, "rcp.approx.ftz.f32")
BITPROOF_UNIT_INSTRUCTION(unit_tanh, "tanh.approx.f32")
BITPROOF_UNIT_INSTRUCTION(unit_rsqrt, "rsqrt.approx.ftz.f32")
BITPROOF_UNIT_INSTRUCTION(unit_sqrt, "sqrt.approx.ftz.f32")
BITPROOF_UNIT_INSTRUCTION(unit_lg2, "lg2.approx.ftz.f32")
BITPROOF_UNIT_INSTRUCTION(unit_sin, "sin.approx.ftz.f32")
BITPROOF_UNIT_INSTRUCTION(unit_cos, "cos.approx.ftz.f32")
#undef BITPROOF_UNIT_INSTRUCTION

template <kernels::HalfType kType>
__device__ std::uint32_t sum_of_pair(std::uint32_t pair) {
  return kernels::HalfPair<kType>::add(pair >> 16, pair & 0xFFFFu) & 0xFFFFu;
}

template <Unit kUnit>
__device__ std::uint32_t device_result(std::uint32_t input) {
  using kernels::HalfPair;
  using kernels::HalfType;
  const float x = __uint_as_float(input);
  if constexpr (kUnit == Unit::ex2) return __float_as_uint(unit_ex2(x));
  if constexpr (kUnit == Unit::rcp) return __float_as_uint(unit_rcp(x));
  if constexpr (kUnit == Unit::tanh) return __float_as_uint(unit_tanh(x));
  if constexpr (kUnit == Unit::rsqrt) return __float_as_uint(unit_rsqrt(x));
  if constexpr (kUnit == Unit::sqrt) return __float_as_uint(unit_sqrt(x));
  if constexpr (kUnit == Unit::lg2) return __float_as_uint(unit_lg2(x));
  if constexpr (kUnit == Unit::sin) return __float_as_uint(unit_sin(x));
  if constexpr (kUnit == Unit::cos) return __float_as_uint(unit_cos(x));
  if constexpr (kUnit == Unit::tanhf) return __float_as_uint(tanhf(x));
  if constexpr (kUnit == Unit::to_bf16) return HalfPair<HalfType::bf16>::round({x, 0}) & 0xFFFFu;
  if constexpr (kUnit == Unit::to_fp16) return HalfPair<HalfType::fp16>::round({x, 0}) & 0xFFFFu;
  if constexpr (kUnit == Unit::add_bf16) return sum_of_pair<HalfType::bf16>(input);
  if constexpr (kUnit == Unit::add_fp16) return sum_of_pair<HalfType::fp16>(input);
}

template <Unit kUnit>
__global__ void __launch_bounds__(kUnitThreads)
    unit_digest_kernel(std::uint64_t first, std::uint64_t count, std::uint64_t seed, std::uint64_t* digest) {
  std::uint64_t sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kUnitThreads + threadIdx.x; i < count;
       i += std::uint64_t{kUnitGrid} * kUnitThreads)
    sum += digest_term(seed, first + i, device_result<kUnit>(static_cast<std::uint32_t>(first + i)));
  add_to(digest, sum);
}

template <Unit kUnit>
__global__ void __launch_bounds__(kUnitThreads)
    unit_results_kernel(std::uint64_t first, std::uint64_t count, std::uint32_t* results) {
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * kUnitThreads + threadIdx.x; i < count;
       i += std::uint64_t{kUnitGrid} * kUnitThreads)
    results[i] = device_result<kUnit>(static_cast<std::uint32_t>(first + i));
}

namespace {

struct UnitKernels {
  void (*digest)(std::uint64_t, std::uint64_t, std::uint64_t, std::uint64_t*);
  void (*results)(std::uint64_t, std::uint64_t, std::uint32_t*);
};

template <Unit... kUnits>
constexpr std::array<UnitKernels, sizeof...(kUnits)> table() {
  return {UnitKernels{unit_digest_kernel<kUnits>, unit_results_kernel<kUnits>}...};
}

// In the order of the enumeration.
UnitKernels kernels_of(Unit unit) {
  static constexpr auto kTable =
      table<Unit::ex2, Unit::rcp, Unit::tanh, Unit::rsqrt, Unit::sqrt, Unit::lg2, Unit::sin, Unit::cos,
            Unit::tanhf, Unit::to_bf16, Unit::to_fp16, Unit::add_bf16, Unit::add_fp16>();
  return kTable[static_cast<std::size_t>(unit)];
}

}  // namespace

void add_unit_digest(Unit unit, std::uint64_t first, std::uint64_t count, std::uint64_t seed,
                     std::uint64_t* digest, cudaStream_t stream) {
  kernels_of(unit).digest<<<kUnitGrid, kUnitThreads, 0, stream>>>(first, count, seed, digest);
  kernels::cuda::check(cudaGetLastError(), "launch of unit_digest_kernel");
}

void unit_results(Unit unit, std::uint64_t first, std::uint64_t count, std::uint32_t* results,
                  cudaStream_t stream) {
  kernels_of(unit).results<<<kUnitGrid, kUnitThreads, 0, stream>>>(first, count, results);
  kernels::cuda::check(cudaGetLastError(), "launch of unit_results_kernel");
}

}  // namespace bitproof::conformance
