// The floating-point environment the reference needs: subnormals kept, rounding to nearest, no contraction, no
// fast math. In any other environment its bits would be wrong without a sign of it, so it refuses to run.
#pragma once

#include <cfloat>
#include <optional>
#include <stdexcept>
#include <string>

#if defined(__FAST_MATH__)
#error "bitproof's reference must not be compiled with -ffast-math: its results would not be the specified bits"
#endif

namespace bitproof::reference {

static_assert(FLT_EVAL_METHOD == 0,
              "the reference needs FP32 arithmetic that is not widened, as SSE2 gives it");

class EnvironmentError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Whether the compiler fuses a*b + c into one operation here. Of internal linkage, because flags belong to a
// translation unit: each one that asks gets its own answer.
static inline bool compiler_contracts() {
  // (1 + 2^-12)^2 = 1 + 2^-11 + 2^-24 is a tie and rounds to 1 + 2^-11; a fused sum still sees the 2^-24.
  volatile float loaded = 0x1.001p0f;
  const float factor = loaded;
  loaded = -0x1.002p0f;
  const float addend = loaded;
  return factor * factor + addend != 0.0f;
}

// What is wrong with the calling thread's environment and what to do about it, or nothing. It costs some
// nanoseconds: cheap enough for every chunk of a sweep. The modes belong to a thread, so every worker asks for
// itself.
std::optional<std::string> environment_fault(bool contracts = compiler_contracts());

// Throws EnvironmentError with that text.
void require_environment(bool contracts = compiler_contracts());

}  // namespace bitproof::reference
