// Why an output of the GELU epilogue differs from eager linear + GELU.
#pragma once

#include <string_view>

#include "reference/half.h"
#include "reference/profile.h"

namespace bitproof::reference {

enum class EpilogueDifference {
  none,                       // equal bits
  zero_sign,                  // +0 against -0
  overflow,                   // one is infinite, the other is finite
  rounding_boundary_skipped,  // eager GELU of the unrounded sum gives the epilogue's bits
  different_gelu,             // it does not: the two GELUs differ on the same FP32 number
};

constexpr std::string_view name(EpilogueDifference difference) {
  switch (difference) {
    case EpilogueDifference::none:
      return "none";
    case EpilogueDifference::zero_sign:
      return "sign of zero";
    case EpilogueDifference::overflow:
      return "overflow";
    case EpilogueDifference::rounding_boundary_skipped:
      return "rounding boundary skipped";
    case EpilogueDifference::different_gelu:
      return "different GELU";
  }
  return "";
}

// What the two paths make of the same FP32 accumulator, bias included.
template <Half T>
struct EpiloguePair {
  T eager;
  T epilogue;
  EpilogueDifference difference;
};

// The first cause in the order of the enumeration that applies.
template <Half T>
EpiloguePair<T> compare_epilogue(float biased_accumulator, const Profile& profile);

}  // namespace bitproof::reference
