// All domains one after the other as one check, the cheap first, that stops at the first block which shows a
// difference: how long does an implementation survive?
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "conformance/check.h"
#include "conformance/elementwise/elementwise_check.h"

namespace bitproof::conformance {

// The seed of the last domain: a kernel that knows the inputs of the default seed meets others.
struct SequenceSeeds {
  std::uint64_t seed = 1, fresh = 2;
};

class Sequence {
 public:
  // values, boundary, layout, random (two blocks of it) and random with the fresh seed (two blocks).
  Sequence(const ElementwiseOperator& op, reference::Dtype dtype,
           const ElementwiseImplementation& implementation, const std::string& device,
           const std::string& architecture, SequenceSeeds seeds);

  std::uint64_t blocks() const { return places_.size(); }
  const std::string& domain(std::uint64_t block) const { return subjects_[places_[block].subject].domain.name; }
  // Inputs of all blocks before this one, and of it.
  std::uint64_t inputs_before(std::uint64_t block) const;
  std::uint64_t inputs_of(std::uint64_t block) const;

  // On CUDA device `device_id`, or on the CPU, as the implementation says. Records of blocks carry the number
  // of the block within the sequence; after the first difference they are empty.
  PlannedCheck planned(int device_id) const;

 private:
  struct Place {
    std::size_t subject;
    std::uint64_t block;
  };
  std::vector<ElementwiseSubject> subjects_;
  std::vector<Place> places_;

  friend class SequenceCheck;
};

// Whether a block's record is that of a right implementation.
bool is_flawless(const Record& of_block);

}  // namespace bitproof::conformance
