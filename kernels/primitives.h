// The few instructions the kernel bodies are written in, twice: on the device as the hardware's, on the host as
// their exact model. A body that is written in these alone compiles for both.
#pragma once

#include <cmath>
#include <cstdint>

#if defined(__CUDACC__)
#define BITPROOF_KERNEL __device__ __forceinline__
#else
#define BITPROOF_KERNEL inline
#include "reference/sfu.h"
#endif

namespace bitproof::kernels {

// MUFU.EX2, ex2.approx.ftz.f32.
BITPROOF_KERNEL float exp2_approximate(float x) {
#if defined(__CUDACC__)
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return reference::sfu::ex2_approx_ftz(x);
#endif
}

// MUFU.RCP, rcp.approx.ftz.f32.
BITPROOF_KERNEL float reciprocal_approximate(float x) {
#if defined(__CUDACC__)
  float y;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
#else
  return reference::sfu::rcp_approx_ftz(x);
#endif
}

// a*b + c with one rounding.
BITPROOF_KERNEL float fused_multiply_add(float a, float b, float c) { return fmaf(a, b, c); }

// Products and sums that the compiler may not contract into an FMA.
BITPROOF_KERNEL float multiply(float a, float b) {
#if defined(__CUDACC__)
  return __fmul_rn(a, b);
#else
  return a * b;
#endif
}

BITPROOF_KERNEL float add(float a, float b) {
#if defined(__CUDACC__)
  return __fadd_rn(a, b);
#else
  return a + b;
#endif
}

}  // namespace bitproof::kernels
