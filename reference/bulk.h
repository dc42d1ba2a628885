// The operators over whole arrays, for sweeps: threaded and vectorised, and equal to the scalar form bit for
// bit, whatever the chunking and the number of threads. A sweep that schedules its own chunks uses
// gelu_tanh_map and the array forms of UnaryMap instead.
//
// All of them throw EnvironmentError (reference/environment.h) when a thread that takes part has the wrong
// floating-point environment, and std::invalid_argument for lengths that do not match. `out` may be `x` itself;
// any other overlap with an input is not supported.
#pragma once

#include <span>

#include "reference/half.h"
#include "reference/profile.h"
#include "reference/unary_map.h"

namespace bitproof::reference {

template <Half T>
UnaryMap<T> gelu_tanh_map(const Profile& profile);

// out[i] = gelu_tanh(x[i]).
template <Half T>
void gelu_tanh(std::span<const T> x, std::span<T> out, const Profile& profile);

// x and out are rows of bias.size() elements, one after the other: out[r][c] = bias_gelu_tanh(x[r][c],
// bias[c]). With bias.size() == x.size() this is the elementwise form.
template <Half T>
void bias_gelu_tanh(std::span<const T> x, std::span<const T> bias, std::span<T> out, const Profile& profile);

}  // namespace bitproof::reference
