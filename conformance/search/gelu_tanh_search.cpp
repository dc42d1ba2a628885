// Finds the coefficients of kernels/gelu_tanh_fast.h. To search a form for another operator, write its formula
// and its coefficients as below; the expected bits come from the reference.
//
//   gelu_tanh_search [SEED] [STARTS]
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <span>
#include <vector>

#include <fmt/core.h>

#include "conformance/search/coefficient_search.h"
#include "reference/operators.h"
#include "reference/profile.h"
#include "reference/sfu.h"

namespace {

using namespace bitproof;

// x * (0.5 + copysign(0.5 - scale / (gain * 2^m + one), x)),  m = |x| * (a + b x^2) + offset
struct Formula {
  float a, b, offset, gain, one, scale;

  float operator()(float x) const {
    const float slope = std::fma(b, x * x, a);
    const float power = reference::sfu::ex2_approx_ftz(std::fma(std::fabs(x), slope, offset));
    const float r = reference::sfu::rcp_approx_ftz(std::fma(power, gain, one));
    return x * (0.5f + std::copysign(std::fma(r, -scale, 0.5f), x));
  }
};

using Search = std::array<conformance::Coefficient, 6>;

// a = 2 log2(e) kBeta and b = a kKappa, in steps of their ULPs; the others around their neutral values.
Search coefficients() {
  const double a = 2 * std::numbers::log2e * std::sqrt(2 / std::numbers::pi);
  return {{{.origin = static_cast<float>(a), .step = 0x1p-22, .spread = 8},
           {.origin = static_cast<float>(a * 0.044715), .step = 0x1p-27, .spread = 80},
           {.origin = 0, .step = -0x1p-28, .spread = 128},
           {.origin = 1, .step = 0x1p-23, .spread = 3},
           {.origin = 1, .step = 0x1p-24, .spread = 3},
           {.origin = 1, .step = 0x1p-24, .spread = 3}}};
}

template <reference::Half T>
std::vector<T> expected() {
  std::vector<T> results;
  for (unsigned bits = 0; bits < 65536; ++bits)
    results.push_back(reference::gelu_tanh(T{static_cast<std::uint16_t>(bits)}, reference::kPytorch211Cuda));
  return results;
}

Formula formula(const std::array<float, 6>& v) { return {v[0], v[1], v[2], v[3], v[4], v[5]}; }

}  // namespace

// fp16 has the longer significand and is the harder one: search there, prove on bf16 as well.
int main(int argc, char** argv) {
  std::uint64_t seed = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1;
  const int starts = argc > 2 ? std::atoi(argv[2]) : 2000;
  const auto fp16 = expected<reference::Fp16>();
  conformance::ExhaustiveFilter<reference::Bf16> bf16(expected<reference::Bf16>());

  for (int left = starts; left > 0; ++seed) {
    conformance::CoefficientSearch<reference::Fp16, 6> search(fp16, coefficients(), seed);
    const auto proof = search.run(formula, left, 400);
    left -= search.starts_tried();
    fmt::print("seed {}: {} starts, {} hard inputs, fewest wrong {}\n", seed, search.starts_tried(),
               search.hard_inputs(), search.fewest_failures());
    if (!proof) break;
    const auto& v = proof->values;
    fmt::print("  a = {:a}, b = {:a}, offset = {:a}, gain = {:a}, one = {:a}, scale = {:a}\n", v[0], v[1], v[2],
               v[3], v[4], v[5]);
    const std::size_t wrong = bf16.failures(formula(v)).size();
    fmt::print("  fp16: 0 of 65536 inputs wrong; bf16: {} of 65536 wrong\n", wrong);
    if (wrong == 0) return 0;
  }
  fmt::print("nothing found for both dtypes\n");
  return 1;
}
