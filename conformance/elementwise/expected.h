// The expected outputs of elementwise cases, computed on the CPU by the reference and nowhere else.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "conformance/elementwise/case.h"
#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/operators.h"
#include "reference/unary_map.h"

namespace bitproof::conformance {

// Expected outputs for one operator, dtype and profile. Thread-safe.
template <reference::Half T>
class Expected {
 public:
  Expected(const ElementwiseOperator& op, const reference::Profile& profile);

  std::vector<T> bias(const Case& c) const;  // empty for unary operators

  // Row `row` of the case: its inputs into `inputs`, its outputs into `outputs`; both `width` long.
  void row(const Case& c, std::uint64_t row, std::span<const T> bias, std::span<T> inputs,
           std::span<T> outputs) const;

  // Digest of all outputs of the case, on all cores. Remembered under `key`, so that the implementations of an
  // operator share it.
  std::uint64_t digest(const Case& c, std::uint64_t seed, const std::string& key);

 private:
  std::uint64_t compute_digest(const Case& c, std::uint64_t seed) const;

  ElementwiseOperator op_;
  reference::UnaryMap<T> map_;
  std::mutex mutex_;
  std::map<std::string, std::uint64_t> digests_;
};

// Names a block's digest for Expected::digest.
std::string digest_key(const ElementwiseDomain& domain, std::uint64_t seed, std::uint64_t block);

// The Expected of an operator and profile, made on first use and kept for the life of the process: building it
// evaluates 65,536 values.
template <reference::Half T>
std::shared_ptr<Expected<T>> expected_for(const ElementwiseOperator& op, const reference::Profile& profile);

}  // namespace bitproof::conformance
