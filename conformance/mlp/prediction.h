// The outputs of an MLP as the reference predicts them, for some of its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "conformance/mlp/configuration.h"
#include "conformance/mlp/operands.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// `count` of `rows` row numbers, ascending and spread evenly.
std::vector<std::size_t> spread_row_numbers(std::uint64_t rows, std::uint64_t count);

// [rows, columns]. `seed` is that of the operands.
template <reference::Half T>
std::vector<T> predicted_rows(MlpConfiguration configuration, const MlpOperands<T>& operands,
                              std::uint64_t seed, std::span<const std::size_t> rows,
                              const reference::Profile& profile);

}  // namespace bitproof::conformance
