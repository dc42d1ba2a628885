// What a record says of the domain that it is of.
#pragma once

#include <cstdint>

#include "conformance/report/record.h"

namespace bitproof::conformance {

// `Domain` is that of elementwise operators or of linear layers; `blocks` is how many it has.
template <class Domain>
void set_domain(Record& record, const Domain& domain, std::uint64_t blocks) {
  record.domain = domain.name;
  record.total = domain.total;
  record.unit = domain.unit;
  record.sampled = domain.sampled;
  record.blocks_total = blocks;
}

}  // namespace bitproof::conformance
