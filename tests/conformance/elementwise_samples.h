// Small elementwise checks for tests: domains of a few elements, and implementations that are wrong in one way.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/check.h"
#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/implementation.h"
#include "conformance/elementwise/operators.h"
#include "kernels/tensor.h"
#include "reference/half.h"

namespace bitproof::conformance::testing {

inline constexpr ElementwiseOperator kBiased = kElementwiseOperators[0];
inline constexpr ElementwiseOperator kUnary = kElementwiseOperators[1];

// What an implementation writes at (row, column) where `right` would be right; nothing leaves the element
// alone.
using Rule =
    std::function<std::optional<std::uint16_t>(std::uint64_t row, std::uint64_t column, std::uint16_t right)>;

// Computes every element by the reference and lets `rule` have the last word.
ElementwiseImplementation ruled_implementation(Rule rule);

// The right one, and afterwards `spoil`.
ElementwiseImplementation spoiled_implementation(std::function<void(const Tensors&)> spoil);

// Serves nothing: the predicate gives `predicted` (empty: yes), the kernel raises `raised` after `before`.
ElementwiseImplementation refusing_implementation(std::string predicted, std::string raised,
                                                  std::function<void(const Tensors&)> before = {});

// `blocks` launches of `rows` x `width` random elements, counted as elements. Named "random".
ElementwiseDomain random_domain(const ElementwiseOperator& op, reference::Dtype dtype, std::uint64_t blocks,
                                std::uint64_t rows, std::uint64_t width);

// One launch, counted as a case. Named "layout".
ElementwiseDomain domain_of_one_case(Case c);

ElementwiseSubject subject(const ElementwiseOperator& op, reference::Dtype dtype,
                           ElementwiseImplementation implementation, ElementwiseDomain domain);

PlannedCheck planned(const ElementwiseSubject& subject);

// All blocks one after the other, added up, with the verdict over the whole domain.
Record run_all(const ElementwiseSubject& subject);

// The first element; a rule may look at it.
using kernels::data_of;

}  // namespace bitproof::conformance::testing
