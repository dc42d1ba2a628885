#include "reference/linear/epilogue_difference.h"

#include <cmath>

#include "reference/linear/gelu_epilogue.h"
#include "reference/operators.h"

namespace bitproof::reference {
namespace {

template <Half T>
bool is_infinite(T value) {
  return magnitude_bits(value) == kPositiveInfinity<T>.bits;
}

}  // namespace

template <Half T>
EpiloguePair<T> compare_epilogue(float biased_accumulator, const Profile& profile) {
  const T rounded = round_to<T>(biased_accumulator);
  const T eager = gelu_tanh(rounded, profile);
  const T epilogue = gelu_epilogue<T>(biased_accumulator);
  const auto difference = [&] {
    using enum EpilogueDifference;
    if (eager == epilogue) return none;
    if (magnitude_bits(eager) == 0 && magnitude_bits(epilogue) == 0) return zero_sign;
    if ((is_infinite(eager) && is_finite(epilogue)) || (is_finite(eager) && is_infinite(epilogue)))
      return overflow;
    // A negative sum beyond T's range: GELU of -inf is a NaN, that of the sum itself a zero.
    if (is_infinite(rounded) && std::isfinite(biased_accumulator)) return overflow;
    const T unrounded = round_result<T>(gelu_tanh_fp32(biased_accumulator, profile), profile);
    return unrounded == epilogue ? rounding_boundary_skipped : different_gelu;
  }();
  return {eager, epilogue, difference};
}

template EpiloguePair<Bf16> compare_epilogue(float, const Profile&);
template EpiloguePair<Fp16> compare_epilogue(float, const Profile&);

}  // namespace bitproof::reference
