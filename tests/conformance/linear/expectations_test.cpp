// The committed known mismatches of the GELU epilogue against eager: what the reference predicts of them, and
// that any other number of them is noticed.
#include "conformance/gate/expectations.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "conformance/comparison.h"
#include "conformance/digest_bulk.h"
#include "conformance/linear/domains.h"
#include "conformance/linear/prediction.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

using reference::Bf16;
using reference::Fp16;
using reference::Half;

std::vector<Expectation> committed() {
  const auto loaded = load_expectations(BITPROOF_FIXTURES "/expectations/known_mismatches.json");
  EXPECT_TRUE(loaded) << (loaded ? "" : loaded.error().message());
  std::vector<Expectation> of_linear;
  for (const Expectation& e : loaded ? *loaded : std::vector<Expectation>{})
    if (e.op == "linear_gelu_tanh" && e.profile == "pytorch-2.11-cuda") of_linear.push_back(e);
  return of_linear;
}

const Expectation& committed_for(const std::vector<Expectation>& all, std::string_view dtype,
                                 std::string_view domain) {
  const auto found =
      std::ranges::find_if(all, [&](const Expectation& e) { return e.dtype == dtype && e.domain == domain; });
  if (found == all.end()) throw std::runtime_error("no expectation is committed for this record");
  return *found;
}

TEST(LinearExpectations, AreOfOneImplementationArchitectureAndLibrary) {
  const std::vector<Expectation> all = committed();
  EXPECT_EQ(all.size(), 6u) << "values, random and production in two dtypes";
  for (const Expectation& e : all) {
    EXPECT_EQ(e.implementation, "cuda.cublaslt");
    EXPECT_EQ(e.architecture, "sm_90");
    EXPECT_FALSE(e.library_version.empty());
    EXPECT_EQ(e.kinds.unwritten + e.kinds.out_of_bounds, 0u);
  }
}

// The record of an epilogue that gives exactly what is predicted of it, against eager.
template <Half T>
Record predicted_record(const Expectation& expectation) {
  const LinearDomain domain = *make_linear_domain("values", T::kDtype, Location::device, expectation.seed);
  const auto predicted = predicted_case<T>(domain.cases[0], {"values", Location::device, expectation.seed, 0});
  const ExpectedOutputs<T> eager(LinearContract::eager(reference::kPytorch211Cuda)),
      epilogue(LinearContract::epilogue(reference::kPytorch211Cuda));
  std::vector<T> wanted, got;
  for (const float sum : predicted->accumulators) {
    wanted.push_back(eager(sum));
    got.push_back(epilogue(sum));
  }
  Tally tally;
  compare<T>(std::span<const T>(wanted), std::span<const T>(got), 0, tally);
  Record record;
  record.op = expectation.op;
  record.dtype = expectation.dtype;
  record.implementation = expectation.implementation;
  record.domain = expectation.domain;
  record.architecture = expectation.architecture;
  record.profile = expectation.profile;
  record.library_version = expectation.library_version;
  record.equality = "bitwise";
  record.seed = expectation.seed;
  record.tested = record.total = domain.total;
  record.blocks_total = 1;
  record.blocks = {{0, 1}};
  record.kinds = tally.kinds;
  record.mismatches = tally.kinds.total();
  record.max_ulp = tally.max_ulp;
  record.digest = digest(bits_of<T>(std::span<const T>(got)), 0, expectation.seed);
  record.expected_digest = digest(bits_of<T>(std::span<const T>(wanted)), 0, expectation.seed);
  return decided(std::move(record), {0, 1});
}

TEST(LinearExpectations, OfValuesAreWhatTheReferencePredicts) {
  const std::vector<Expectation> all = committed();
  for (const Record& record : {predicted_record<Bf16>(committed_for(all, "bf16", "values")),
                               predicted_record<Fp16>(committed_for(all, "fp16", "values"))}) {
    EXPECT_EQ(record.verdict, Verdict::mismatch);
    EXPECT_EQ(with_expectation(record, all).verdict, Verdict::known_mismatch) << label(record);
    EXPECT_FALSE(contradicts(record, all));
  }
}

TEST(LinearExpectations, FailInBothDirections) {
  const std::vector<Expectation> all = committed();
  const Record known = predicted_record<Bf16>(committed_for(all, "bf16", "values"));
  const auto changed = [&](auto&& change) {
    Record record = known;
    change(record);
    record.mismatches = record.kinds.total();
    return decided(std::move(record), {0, 1});
  };
  const Record more = changed([](Record& r) { ++r.kinds.value; });
  const Record fewer = changed([](Record& r) { --r.kinds.zero_sign; });
  const Record others = changed([](Record& r) { r.digest ^= 1; });
  const Record another_library = changed([](Record& r) { r.library_version = "13.2.0"; });
  const Record none = changed([](Record& r) {
    r.kinds = {};
    r.max_ulp = 0;
    r.digest = r.expected_digest;
  });
  for (const Record& record : {more, fewer, others, another_library}) {
    EXPECT_TRUE(contradicts(record, all)) << record.mismatches;
    EXPECT_EQ(with_expectation(record, all).verdict, Verdict::mismatch);
  }
  EXPECT_EQ(none.verdict, Verdict::bit_exact);
  EXPECT_TRUE(contradicts(none, all)) << "a mismatch that is expected and gone is news too";
}

TEST(LinearExpectations, APartOfADomainDoesNotContradictThem) {
  const std::vector<Expectation> all = committed();
  Record part = predicted_record<Bf16>(committed_for(all, "bf16", "values"));
  part.blocks_total = 2;
  EXPECT_FALSE(contradicts(part, all));
  EXPECT_EQ(with_expectation(part, all).verdict, Verdict::mismatch);
}

}  // namespace
}  // namespace bitproof::conformance
