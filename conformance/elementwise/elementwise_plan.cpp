#include "conformance/elementwise/elementwise_plan.h"

#include <algorithm>
#include <optional>

#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/pairs_factored_check.h"
#include "conformance/machine_code/keys.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;

constexpr std::array<std::string_view, 6> kDomains{"values", "boundary",   "random",
                                                   "layout", "production", "pairs"};
constexpr std::string_view kHostArchitecture = "x86_64";

// With everything but the domain.
Record identity(const ElementwiseOperator& op, Dtype dtype, const reference::Profile& profile,
                std::uint64_t seed) {
  Record record;
  record.op = op.name;
  record.dtype = name(dtype);
  record.profile = profile.name;
  record.equality = "bitwise";
  record.evidence = name(Evidence::executed);
  record.seed = seed;
  return record;
}

Record placed(Record record, std::string_view implementation, const std::string& device,
              std::string_view architecture) {
  record.implementation = implementation;
  record.device = device;
  record.architecture = architecture;
  record.machine_code_key = machine_code_key(implementation, architecture).value_or("");
  return record;
}

// 256 blocks of the reference's own sweep; see pairs_factored_check.h.
Record factored_record(Record record) {
  record.domain = "pairs_factored";
  record.unit = "pairs";
  record.total = std::uint64_t{1} << 32;
  record.blocks_total = 256;
  return record;
}

}  // namespace

Record planned_record(const ElementwiseOperator& op, Dtype dtype, const reference::Profile& profile,
                      std::uint64_t seed, const ElementwiseDomain& domain) {
  Record record = identity(op, dtype, profile, seed);
  record.domain = domain.name;
  record.total = domain.total;
  record.unit = domain.unit;
  record.sampled = domain.sampled;
  record.blocks_total = domain.blocks;
  return record;
}

std::vector<PlannedCheck> plan_elementwise(const reference::Profile& profile, std::uint64_t seed,
                                           const std::vector<CudaDevice>& devices) {
  std::vector<PlannedCheck> plan;
  const auto add = [&](const ElementwiseOperator& op, Dtype dtype,
                       const ElementwiseImplementation& implementation, const std::string& device,
                       std::string_view architecture, std::string_view domain_name,
                       std::optional<int> device_id) {
    const auto domain = make_domain(domain_name, op, dtype, implementation.location, seed);
    if (!domain) return;
    Record record =
        placed(planned_record(op, dtype, profile, seed, *domain), implementation.name, device, architecture);
    ElementwiseSubject subject{op, dtype, profile, implementation, *domain, record};
    std::function<std::unique_ptr<Check>()> start;
    if (implementation.location == Location::host) {
      start = [subject] { return make_host_check(subject); };
    } else if (device_id) {
      start = [subject, id = *device_id] { return make_device_check(subject, id); };
    }
    plan.push_back({std::move(record), std::move(start), {}});
  };

  for (const ElementwiseOperator& op : kElementwiseOperators) {
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
      for (const ElementwiseImplementation& implementation : host_implementations())
        for (const std::string_view domain : kDomains)
          add(op, dtype, implementation, "cpu", kHostArchitecture, domain, 0);
      if (op.has_bias) {
        const Record record =
            factored_record(placed(identity(op, dtype, profile, seed), "reference", "cpu", kHostArchitecture));
        plan.push_back(
            {record,
             [op, dtype, profile, record] { return make_pairs_factored_check(op, dtype, profile, record); },
             {}});
      }
      for (const ElementwiseImplementation& implementation : device_implementations())
        for (const std::string_view domain : kDomains) {
          for (const CudaDevice& device : devices)
            add(op, dtype, implementation, device.label(), device.facts.architecture, domain, device.id);
          if (devices.empty()) add(op, dtype, implementation, "cuda", "cuda", domain, std::nullopt);
        }
    }
  }
  return plan;
}

namespace {

template <reference::Half T>
std::uint64_t digest_of_domain(const ElementwiseOperator& op, std::string_view dtype,
                               const reference::Profile& profile, const ElementwiseDomain& domain,
                               std::uint64_t seed) {
  const auto expected = expected_for<T>(op, profile);
  BlockOfDomain block{
      std::string(op.name), std::string(dtype), std::string(profile.name), domain.name, domain.total, seed, 0};
  std::uint64_t sum = 0;
  for (; block.block < domain.blocks; ++block.block)
    sum += expected->digest(domain.make_case(block.block), block);
  return sum;
}

}  // namespace

std::optional<std::uint64_t> expected_digest_of_domain(std::string_view op_name, std::string_view dtype_name,
                                                       std::string_view profile_name,
                                                       std::string_view domain_name, std::uint64_t seed) {
  const auto op = std::ranges::find(kElementwiseOperators, op_name, &ElementwiseOperator::name);
  const auto dtype = reference::parse_dtype(dtype_name);
  const auto profile = reference::find_profile(profile_name);
  if (op == kElementwiseOperators.end() || !dtype || !profile) return std::nullopt;
  const bool factored = domain_name == "pairs_factored";
  if (domain_name == "production" || domain_name == "layout") return std::nullopt;
  const auto domain = make_domain(factored ? "pairs" : domain_name, *op, *dtype, Location::host, seed);
  if (!domain) return std::nullopt;
  return *dtype == Dtype::bf16 ? digest_of_domain<reference::Bf16>(*op, dtype_name, *profile, *domain, seed)
                               : digest_of_domain<reference::Fp16>(*op, dtype_name, *profile, *domain, seed);
}

}  // namespace bitproof::conformance
