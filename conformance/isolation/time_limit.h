// How long a block of a domain may take before the implementation counts as hanging.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

namespace bitproof::conformance {

struct DomainTimeLimit {
  std::string_view domain;
  std::chrono::seconds limit;
};

// From one message of a worker to the next: making the check (on a GPU, a context), then each block. Some fifty
// times what the slowest machine we know, two cores under a sanitizer, needs; a block of `layout` on a GPU has
// 2^32 elements, whose expected digest the CPU makes, and blocks of the exhaustive domains have 2^24.
inline constexpr std::array kDomainTimeLimits{
    DomainTimeLimit{"values", std::chrono::seconds{120}},
    DomainTimeLimit{"boundary", std::chrono::seconds{120}},
    DomainTimeLimit{"random", std::chrono::seconds{120}},
};
inline constexpr std::chrono::seconds kLongestTimeLimit{600};

constexpr std::chrono::seconds time_limit_of(std::string_view domain) {
  const auto found = std::ranges::find(kDomainTimeLimits, domain, &DomainTimeLimit::domain);
  return found == kDomainTimeLimits.end() ? kLongestTimeLimit : found->limit;
}

}  // namespace bitproof::conformance
