// An implementation of linear + GELU under test: operands in, the tested rows of the output out.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "conformance/linear/operands.h"
#include "conformance/report/record.h"
#include "reference/half.h"

namespace bitproof::conformance {

template <reference::Half T>
struct Launched {
  std::vector<T> outputs;         // of the tested rows, [rows, columns]
  std::uint64_t unwritten = 0;    // elements of other rows that still hold the poison
  std::uint64_t overwritten = 0;  // elements of the guard bands around the output
  std::optional<LibraryAlgorithm> algorithm;
  std::string refusal;  // why nothing was launched; predicate and call agree on it
};

template <reference::Half T>
class LinearLauncher {
 public:
  virtual ~LinearLauncher() = default;

  // Poisons the output and its guard bands, launches once and waits. On the CPU it may use all cores. `rows`
  // are the tested ones, ascending and disjoint. Throws what ends the check.
  virtual Launched<T> launch(const HostLayer<T>& layer, std::span<const BlockRange> rows) = 0;
};

// The CPU's implementation host.eager.
template <reference::Half T>
std::unique_ptr<LinearLauncher<T>> make_host_launcher();

}  // namespace bitproof::conformance
