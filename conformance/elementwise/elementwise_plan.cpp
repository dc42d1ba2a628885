#include "conformance/elementwise/elementwise_plan.h"

#include <algorithm>
#include <optional>

#include "conformance/domain_record.h"
#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/pairs_factored_check.h"
#include "conformance/machine_code/keys.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;

constexpr std::array<std::string_view, 6> kDomains{"values", "boundary",   "random",
                                                   "layout", "production", "pairs"};
constexpr std::string_view kHostArchitecture = "x86_64";

struct Planner {
  const reference::Profile& profile;
  std::uint64_t seed;

  Record identity(const ElementwiseOperator& op, Dtype dtype, std::string_view implementation,
                  const std::string& device, std::string_view architecture) const {
    Record record;
    record.op = op.name;
    record.dtype = name(dtype);
    record.implementation = implementation;
    record.device = device;
    record.architecture = architecture;
    record.profile = profile.name;
    record.equality = "bitwise";
    record.evidence = name(Evidence::executed);
    record.machine_code_key = machine_code_key(implementation, architecture).value_or("");
    record.seed = seed;
    return record;
  }

  // All domains, on the CPU or on every device; on a device called "cuda", unavailable, where there is none.
  void add_implementation(std::vector<PlannedCheck>& plan, const ElementwiseOperator& op, Dtype dtype,
                          const ElementwiseImplementation& implementation,
                          const std::vector<CudaDevice>& devices,
                          const std::optional<OneElement>& only = {}) const {
    for (const std::string_view name : kDomains) {
      if (only && name != kDomains.front()) break;
      const auto domain = only ? domain_of(*only, op, dtype, seed)
                               : make_domain(name, op, dtype, implementation.location, seed);
      if (!domain) continue;
      if (implementation.location == Location::host) {
        add(plan, op, dtype, implementation, "cpu", kHostArchitecture, *domain, 0);
        continue;
      }
      for (const CudaDevice& device : devices)
        add(plan, op, dtype, implementation, device.label(), device.facts.architecture, *domain, device.id);
      if (devices.empty()) add(plan, op, dtype, implementation, "cuda", "cuda", *domain, std::nullopt);
    }
  }

 private:
  void add(std::vector<PlannedCheck>& plan, const ElementwiseOperator& op, Dtype dtype,
           const ElementwiseImplementation& implementation, const std::string& device,
           std::string_view architecture, const ElementwiseDomain& domain, std::optional<int> device_id) const {
    Record record = identity(op, dtype, implementation.name, device, architecture);
    set_domain(record, domain, domain.blocks);
    ElementwiseSubject subject{op, dtype, profile, implementation, domain, record};
    std::function<std::unique_ptr<Check>()> start;
    if (implementation.location == Location::host) {
      start = [subject] { return make_host_check(subject); };
    } else if (device_id) {
      start = [subject, id = *device_id] { return make_device_check(subject, id); };
    }
    plan.push_back({std::move(record), std::move(start), {}});
  }
};

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
  Record record = Planner{profile, seed}.identity(op, dtype, "", "", "");
  set_domain(record, domain, domain.blocks);
  return record;
}

std::vector<PlannedCheck> plan_elementwise(const reference::Profile& profile, std::uint64_t seed,
                                           const std::vector<CudaDevice>& devices) {
  const Planner planner{profile, seed};
  const std::vector<ElementwiseImplementation> on_host = host_implementations(),
                                               on_device = device_implementations();
  std::vector<PlannedCheck> plan;
  for (const ElementwiseOperator& op : kElementwiseOperators) {
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
      for (const ElementwiseImplementation& implementation : on_host)
        planner.add_implementation(plan, op, dtype, implementation, devices);
      if (op.has_bias) {
        const Record record =
            factored_record(planner.identity(op, dtype, "reference", "cpu", kHostArchitecture));
        plan.push_back(
            {record,
             [op, dtype, profile, record] { return make_pairs_factored_check(op, dtype, profile, record); },
             {}});
      }
      for (const ElementwiseImplementation& implementation : on_device)
        planner.add_implementation(plan, op, dtype, implementation, devices);
    }
  }
  return plan;
}

std::vector<PlannedCheck> plan_implementations(const reference::Profile& profile, std::uint64_t seed,
                                               const std::vector<CudaDevice>& devices,
                                               const std::vector<ElementwiseImplementation>& implementations,
                                               const std::optional<OneElement>& only) {
  const Planner planner{profile, seed};
  std::vector<PlannedCheck> plan;
  for (const ElementwiseOperator& op : kElementwiseOperators)
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16})
      for (const ElementwiseImplementation& implementation : implementations)
        planner.add_implementation(plan, op, dtype, implementation, devices, only);
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
  const auto op = find_elementwise_operator(op_name);
  const auto dtype = reference::parse_dtype(dtype_name);
  const auto profile = reference::find_profile(profile_name);
  if (!op || !dtype || !profile) return std::nullopt;
  const bool factored = domain_name == "pairs_factored";
  if (domain_name == "production" || domain_name == "layout") return std::nullopt;
  const auto domain = make_domain(factored ? "pairs" : domain_name, *op, *dtype, Location::host, seed);
  if (!domain) return std::nullopt;
  return *dtype == Dtype::bf16 ? digest_of_domain<reference::Bf16>(*op, dtype_name, *profile, *domain, seed)
                               : digest_of_domain<reference::Fp16>(*op, dtype_name, *profile, *domain, seed);
}

}  // namespace bitproof::conformance
