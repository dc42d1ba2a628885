// What one check found: the unit of every report, shard, merge and gate decision.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bitproof::conformance {

enum class Verdict { bit_exact, within_contract, known_mismatch, mismatch, refused, not_run, error };

std::string_view name(Verdict verdict);
std::optional<Verdict> parse_verdict(std::string_view text);

// How a result was obtained, weakest first: code was only compiled for the architecture; its listing was read;
// it ran in the emulator; it ran on a device (or, of host implementations, on this CPU).
enum class Evidence { compiled, audited, emulated, executed };

std::string_view name(Evidence evidence);
std::optional<Evidence> parse_evidence(std::string_view text);

// Differences by what differs. One element is counted under exactly one kind.
struct KindCounts {
  std::uint64_t value = 0;          // two different non-NaN values, or a NaN against a number
  std::uint64_t zero_sign = 0;      // +0 against -0
  std::uint64_t nan_bits = 0;       // two NaNs with different bits
  std::uint64_t unwritten = 0;      // the element still holds the poison pattern
  std::uint64_t out_of_bounds = 0;  // elements of guard bands and row gaps that were overwritten

  std::uint64_t total() const { return value + zero_sign + nan_bits + unwritten + out_of_bounds; }
  KindCounts& operator+=(const KindCounts& other);
  bool operator==(const KindCounts&) const = default;
};

// The kinds by name, in the order in which they are printed.
struct KindField {
  std::string_view name;
  std::uint64_t KindCounts::*count;
};
inline constexpr std::array<KindField, 5> kKindFields{{
    {"value", &KindCounts::value},
    {"zero_sign", &KindCounts::zero_sign},
    {"nan_bits", &KindCounts::nan_bits},
    {"unwritten", &KindCounts::unwritten},
    {"out_of_bounds", &KindCounts::out_of_bounds},
}};

// Number of mismatches by ULP distance: bucket 0 holds distance 0 (signs of zero, NaN bits), bucket k >= 1 the
// distances in [2^(k-1), 2^k), so that bucket 17 is the last one possible between 16-bit values.
using UlpHistogram = std::array<std::uint64_t, 18>;

// What a counterexample shrinks to: the smallest shape and the simplest values that still fail.
struct SmallestCase {
  std::uint64_t rows = 0, width = 0, row = 0, column = 0;
  std::vector<std::string> inputs;  // as those of a counterexample
  std::string expected, got;
  std::string place;  // of a counterexample without an element, else empty
  std::string layout;
  std::string element;    // "1x16,0,3,x=0x3c00,bias=0x8000": what `run --case` takes
  std::string reproduce;  // one command
  bool operator==(const SmallestCase&) const = default;
};

// The first wrong element of the first wrong block. Of a block whose outputs are right, what its code did
// beside them: see is_of_an_element().
struct Counterexample {
  std::vector<std::string> inputs;  // "x=0xb5a7", "bias=0x8000": name=bits
  std::string expected;             // "0xb018"
  std::string got;
  std::string kind;           // a name of KindCounts
  double expected_value = 0;  // the same as numbers; NaN and infinity are written as strings in JSON
  double got_value = 0;
  std::uint64_t ulp = 0;
  std::uint64_t rows = 0, width = 0;  // shape of the tensor it was found in
  std::uint64_t row = 0, column = 0;  // where
  std::uint32_t vector_lane = 0;      // lane of the kernel's vector access
  std::uint64_t block = 0;            // block of the domain
  std::string layout;                 // "contiguous", "in place, bias offset 2", ...
  std::string parts_at;               // step at which the computations part, empty when unknown
  std::string reproduce;              // one command
  std::string diagnosis;              // "differs exactly as a kernel that ... would"; empty when unknown
  std::optional<SmallestCase> smallest;

  // Else of an access out of bounds, which is any but a read of an operand and a write of the output. Then
  // there are no inputs, row, column and numbers; parts_at says where, and of a write `expected` and `got` are
  // the bits before and after.
  bool is_of_an_element() const { return !inputs.empty(); }
  bool operator==(const Counterexample&) const = default;
};

// "x=0xb5a7, bias=0x8000"; without an element, what the code did.
std::string what(const Counterexample& example);
// "row 3 of 4, column 5 of 16, lane 5 of its vector"; without an element, "a [4, 16] tensor".
std::string where(const Counterexample& example);
// "[1, 8], x=0xb5a7, bias=0x8000: expected 0xb018, got 0x0000".
std::string in_words(const SmallestCase& smallest);

// Mismatching elements of one cause, where a check can tell why.
struct Cause {
  std::string name;  // "rounding boundary skipped"
  std::uint64_t count = 0;
  Counterexample first;
  bool operator==(const Cause&) const = default;
};

// An algorithm that a vendor's library was asked to run, and for what.
struct LibraryAlgorithm {
  std::string description;  // "id 66, tile 31, stages 35, splits 1, ..."
  std::uint64_t splits = 0;
  std::uint64_t workspace_bytes = 0;
  std::vector<std::string> shapes;  // "512 x 3072 -> 12288", ascending
  bool operator==(const LibraryAlgorithm&) const = default;
};

// Half-open range of block numbers of a domain.
struct BlockRange {
  std::uint64_t begin = 0, end = 0;
  bool operator==(const BlockRange&) const = default;
};

struct Record {
  // Identity.
  std::string op;              // JSON "operator"
  std::string dtype;           // "bf16", "fp16"; "fp32" for unit functions
  std::string implementation;  // "host.fused", "cuda.fused", "reference"
  std::string domain;
  std::string device;        // "cpu", "cuda:0"
  std::string architecture;  // "x86_64", "sm_90"; "cuda" when no device told which
  std::string profile;       // "pytorch-2.11-cuda"
  std::string equality;      // "bitwise", "ulp<=1"
  std::string evidence;      // name(Evidence)
  std::string machine_code_key;
  std::uint64_t seed = 0;
  std::string library_version;  // cuBLASLt's, where it matters; else empty

  // Coverage. tested counts inputs of the domain, in the domain's unit.
  std::uint64_t tested = 0;
  std::uint64_t total = 0;
  std::string unit;      // "values", "pairs", "elements"
  bool sampled = false;  // the domain is itself a sample of its input space, or of the named shapes
  std::uint64_t blocks_total = 0;
  std::vector<BlockRange> blocks;  // blocks tested, ascending, disjoint, maximal

  // Findings.
  std::uint64_t mismatches = 0;
  KindCounts kinds;
  std::uint64_t max_ulp = 0;
  UlpHistogram ulp_histogram{};
  std::optional<Counterexample> first;
  std::uint64_t digest = 0;                  // of the outputs, over the blocks tested
  std::uint64_t expected_digest = 0;         // of the reference's outputs, over the same blocks
  std::vector<Cause> causes;                 // of the mismatches, by name; empty where none is looked for
  std::vector<LibraryAlgorithm> algorithms;  // by description; empty where no library chooses
  std::vector<std::uint8_t> errors;  // `values` only: saturating ULP error of each input; empty when all zero

  double seconds = 0;  // wall time of the work where it ran, added over blocks, devices and shards
  Verdict verdict = Verdict::not_run;
  std::string reason;  // why refused, not run, or in error; remedy included

  // Of a merged report: which of its sources tested a part of this, as ranges of their numbers.
  std::vector<BlockRange> sources;

  bool operator==(const Record&) const = default;
};

// "3 of 65536 values differ", "2 elements in 70 cases differ, 1 access out of bounds".
std::string differences(const Record& record);

}  // namespace bitproof::conformance
