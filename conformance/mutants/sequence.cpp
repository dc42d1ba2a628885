#include "conformance/mutants/sequence.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "conformance/domain_record.h"

namespace bitproof::conformance {

bool is_flawless(const Record& r) {
  return r.verdict != Verdict::error && r.verdict != Verdict::refused && r.tested > 0 && r.mismatches == 0 &&
         r.digest == r.expected_digest;
}

class SequenceCheck final : public Check {
 public:
  SequenceCheck(Sequence sequence, int device_id) : sequence_(std::move(sequence)), device_id_(device_id) {}

  Record plan() const override { return sequence_.subjects_.front().identity; }
  bool concurrent_blocks() const override { return false; }

  Record run_block(std::uint64_t block) override {
    const Sequence::Place place = sequence_.places_[block];
    Record record = sequence_.subjects_[place.subject].identity;
    if (!ended_) record = check_of(place.subject).run_block(place.block);
    ended_ = ended_ || !is_flawless(record);
    record.blocks_total = sequence_.blocks();
    record.blocks = {{block, block + 1}};
    return record;
  }

 private:
  // One at a time: a check on a device holds memory.
  Check& check_of(std::size_t subject) {
    if (!check_ || subject_ != subject) {
      check_.reset();
      const ElementwiseSubject& next = sequence_.subjects_[subject];
      check_ = next.implementation.location == Location::host ? make_host_check(next)
                                                              : make_device_check(next, device_id_);
      subject_ = subject;
    }
    return *check_;
  }

  Sequence sequence_;
  int device_id_;
  std::unique_ptr<Check> check_;
  std::size_t subject_ = 0;
  bool ended_ = false;
};

Sequence::Sequence(const ElementwiseOperator& op, reference::Dtype dtype,
                   const ElementwiseImplementation& implementation, const std::string& device,
                   const std::string& architecture, SequenceSeeds seeds) {
  struct Part {
    std::string_view domain;
    std::uint64_t seed;
    std::uint64_t most_blocks;
    std::string_view suffix;
  };
  constexpr std::uint64_t kAll = ~std::uint64_t{0};
  const Part parts[] = {{"values", seeds.seed, kAll, ""},
                        {"boundary", seeds.seed, kAll, ""},
                        {"layout", seeds.seed, kAll, ""},
                        {"random", seeds.seed, 2, ""},
                        {"random", seeds.fresh, 2, ", fresh seed"}};
  for (const Part& part : parts) {
    ElementwiseDomain domain = *make_domain(part.domain, op, dtype, implementation.location, part.seed);
    domain.name += part.suffix;
    ElementwiseSubject subject{};
    subject.op = op;
    subject.dtype = dtype;
    subject.profile = reference::kPytorch211Cuda;
    subject.implementation = implementation;
    Record& identity = subject.identity;
    identity.op = op.name;
    identity.dtype = name(dtype);
    identity.implementation = implementation.name;
    identity.device = device;
    identity.architecture = architecture;
    identity.profile = subject.profile.name;
    identity.equality = "bitwise";
    identity.evidence = "executed";
    identity.seed = part.seed;
    set_domain(identity, domain, domain.blocks);
    subject.domain = std::move(domain);
    subject.explain = false;
    for (std::uint64_t block = 0; block < std::min(part.most_blocks, subject.domain.blocks); ++block)
      places_.push_back({subjects_.size(), block});
    subjects_.push_back(std::move(subject));
  }
}

std::uint64_t Sequence::inputs_of(std::uint64_t block) const {
  return subjects_[places_[block].subject].domain.make_case(places_[block].block).elements();
}

std::uint64_t Sequence::inputs_before(std::uint64_t block) const {
  std::uint64_t inputs = 0;
  for (std::uint64_t earlier = 0; earlier < block; ++earlier) inputs += inputs_of(earlier);
  return inputs;
}

PlannedCheck Sequence::planned(int device_id) const {
  PlannedCheck planned;
  planned.record = subjects_.front().identity;
  planned.record.blocks_total = blocks();
  planned.start = [sequence = *this, device_id] {
    return std::make_unique<SequenceCheck>(sequence, device_id);
  };
  return planned;
}

}  // namespace bitproof::conformance
