// Domain `pairs_factored`, of the reference only: proves the biased operator over all 2^32 pairs without
// evaluating it 2^32 times. For every pair the reference's rounded add must equal an independent integer
// version; what follows is a unary map, whose 65,536 entries must equal the scalar operator.
#pragma once

#include <memory>

#include "conformance/check.h"
#include "conformance/elementwise/operators.h"
#include "reference/half.h"
#include "reference/profile.h"

namespace bitproof::conformance {

// 256 blocks of 256 inputs x 65,536 biases. The digests are those of domain `pairs`: `digest` by way of the
// integer add, `expected_digest` by way of FP32.
std::unique_ptr<Check> make_pairs_factored_check(const ElementwiseOperator& op, reference::Dtype dtype,
                                                 const reference::Profile& profile, Record identity);

}  // namespace bitproof::conformance
