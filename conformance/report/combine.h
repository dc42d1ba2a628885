// The arithmetic of records: how the results of disjoint blocks add up, and which verdict the sum deserves.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "conformance/report/record.h"
#include "conformance/report/result.h"
#include "conformance/report/shard.h"

namespace bitproof::conformance {

// "bias_gelu_tanh bf16 cuda.fused pairs sm_90": how people and findings call a record.
std::string label(const Record& record);

// What two records must share for their blocks to be parts of one result: everything under "Identity" except
// the device, since shards of one run may sit on several devices of one architecture. Compares and orders;
// refers to the record.
inline auto identity_of(const Record& r) {
  return std::tie(r.op, r.dtype, r.implementation, r.domain, r.architecture, r.profile, r.equality, r.evidence,
                  r.machine_code_key, r.library_version, r.seed);
}
inline bool same_identity(const Record& a, const Record& b) { return identity_of(a) == identity_of(b); }

// --- Sets of blocks: ascending, disjoint and maximal ranges --------------------------------------------------

std::vector<BlockRange> unite(std::span<const BlockRange> a, std::span<const BlockRange> b);
bool overlap(std::span<const BlockRange> a, std::span<const BlockRange> b);
std::uint64_t count_blocks(std::span<const BlockRange> blocks);
// The blocks of `share` that are not in `done`: what a resumed run still has to do.
std::vector<BlockRange> remaining(const BlockRange& share, std::span<const BlockRange> done);

// --- Combining ---------------------------------------------------------------------------------------------

// The record of both records' blocks together. Commutative and associative, with a planned record (no blocks,
// not_run) as its neutral element, so blocks, workers, resumed halves and shards may arrive in any order:
//   tested, mismatches, kinds, histogram      summed
//   digests                                   summed modulo 2^64
//   max_ulp, errors (element by element)      the larger
//   first                                     the one of the lower block
//   causes, algorithms                        united by name; counts summed, the example of the lower block
//   device                                    the sorted union, joined with "+"
//   seconds                                   summed, in whole microseconds so that no order of addition shows
//   verdict                                   error, else refused, else decide_verdict() over the whole domain
// Refused (ErrorKind::conflict) when the identities, totals or units differ or the blocks overlap.
Result<Record> combine(const Record& a, const Record& b);

// --- Verdict -----------------------------------------------------------------------------------------------

// What the numbers of a record say once `share` is all that it was asked to test. In this order:
//   a mismatch outside the contract           mismatch, whatever else is missing
//   no input tested                           not_run: nothing tested is never a pass
//   a block of `share` untested               not_run: a part says nothing about the rest
//   digests differ although nothing mismatched, or every block was tested but not every input
//                                             error: the harness contradicts itself, so it proves nothing
//   a mismatch inside "ulp<=N"                within_contract
//   otherwise                                 bit_exact
// "ulp<=N" admits differences of `value`, `zero_sign` and `nan_bits` whose max_ulp is at most N (a NaN against
// a number must have been given a larger distance); never unwritten or overwritten elements. An equality that
// is neither "bitwise" nor "ulp<=N" is an error. `refused` and `error` as set by the caller stay.
//
// bit_exact of a shard speaks for the shard only: the report names the shard, and the gate takes it as coverage
// of the domain only after merge has proved that every shard is there.
struct Decision {
  Verdict verdict = Verdict::not_run;
  std::string reason;  // empty for the passing verdicts
  bool operator==(const Decision&) const = default;
};
Decision decide_verdict(const Record& record, const BlockRange& share);

// `record` with the verdict and reason of decide_verdict().
Record decided(Record record, const BlockRange& share);

// Nothing is left to test: every block of `share` was, and a verdict was reached.
bool is_finished(const Record& record, const BlockRange& share);

}  // namespace bitproof::conformance
