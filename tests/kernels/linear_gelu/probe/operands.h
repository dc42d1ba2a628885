// Inputs of a layer: an element depends on (seed, index) only.
#pragma once

#include <cstdint>
#include <string_view>

#include "reference/half.h"
#include "tests/kernels/linear_gelu/probe/layer.h"

namespace bitproof::probe {

enum class Data {
  normal,      // activations about 1, weights about 1/sqrt(depth)
  wide,        // exponents over 28 binades: truncation at every cut
  cancelling,  // few magnitudes of either sign
  large,       // sums that overflow fp16, and FP32 in bf16
  subnormal,   // the lowest binades
  non_finite,  // normal, with an infinity or a NaN in a few rows
};

inline constexpr Data kAllData[] = {Data::normal, Data::wide,      Data::cancelling,
                                    Data::large,  Data::subnormal, Data::non_finite};

constexpr std::string_view name(Data data) {
  constexpr std::string_view kNames[] = {"normal", "wide", "cancelling", "large", "subnormal", "non-finite"};
  return kNames[static_cast<int>(data)];
}

template <reference::Half T>
HostLayer<T> make_layer(const reference::GemmShape& shape, Data data, std::uint64_t seed);

}  // namespace bitproof::probe
