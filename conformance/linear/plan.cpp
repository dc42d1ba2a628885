#include "conformance/linear/plan.h"

#include <array>
#include <memory>
#include <utility>

#include <fmt/format.h>

#include "conformance/comparison.h"
#include "conformance/digest_bulk.h"
#include "conformance/domain_record.h"
#include "conformance/linear/check.h"
#include "conformance/linear/device.h"
#include "conformance/machine_code/keys.h"
#include "conformance/report/sha256.h"
#include "kernels/linear_gelu/dispatch_table.h"

namespace bitproof::conformance {
namespace {

using kernels::LinearGeluPath;
using reference::Dtype;
using reference::Half;

constexpr std::string_view kHostEager = "host.eager";

// An implementation under one contract.
struct Subject {
  std::string_view implementation;
  std::optional<LinearGeluPath> path;  // nothing: on the CPU
  bool epilogue;                       // held to the epilogue's prediction, else to the eager profile
  bool compared_only;                  // known to differ: over the domains that show how
};

constexpr std::array kSubjects{
    Subject{kHostEager, std::nullopt, false, false},
    Subject{"cuda.eager", LinearGeluPath::eager, false, false},
    Subject{"cuda.cublaslt", LinearGeluPath::cublaslt, true, false},
    Subject{"cuda.cublaslt", LinearGeluPath::cublaslt, false, true},
};

bool shows_the_difference(std::string_view domain) {
  return domain == "values" || domain == "random" || domain == "production";
}

Location location_of(const Subject& subject) { return subject.path ? Location::device : Location::host; }

template <Half T>
std::function<std::unique_ptr<Check>()> starter(const Subject& subject, const LinearSubject& check,
                                                std::optional<int> device_id) {
  if (!subject.path) return [check] { return make_linear_check<T>(check, make_host_launcher<T>()); };
  if (!device_id) return {};
  return [check, path = *subject.path, id = *device_id] {
    return make_linear_check<T>(check, make_device_launcher<T>(path, id));
  };
}

// Where a check runs.
struct Place {
  std::string device, architecture;
  std::string library_version;   // empty: no cuBLASLt
  std::optional<int> device_id;  // nothing: not here
};
const Place kHost{"cpu", "x86_64", "", 0};
const Place kNoDevice{"cuda", "cuda", "", std::nullopt};

class Planner {
 public:
  Planner(const reference::Profile& profile, std::uint64_t seed, const std::vector<CudaDevice>& devices)
      : profile_(profile), seed_(seed), devices_(devices) {}

  std::vector<PlannedCheck> plan() {
    // The checks of one domain and dtype follow one another: they share its predictions.
    for (const Dtype dtype : {Dtype::bf16, Dtype::fp16}) {
      for (const std::string_view domain : kLinearDomains) add(domain, dtype, Location::host);
      for (const std::string_view domain : kLinearDomains) add(domain, dtype, Location::device);
    }
    return std::move(plan_);
  }

 private:
  void add(std::string_view domain_name, Dtype dtype, Location location) {
    const auto domain = make_linear_domain(domain_name, dtype, location, seed_);
    for (const Subject& subject : kSubjects) {
      if (location_of(subject) != location || (subject.compared_only && !shows_the_difference(domain_name)))
        continue;
      if (location == Location::host) add(subject, *domain, dtype, kHost);
      if (location == Location::device && devices_.empty()) add(subject, *domain, dtype, kNoDevice);
      if (location == Location::device)
        for (const CudaDevice& device : devices_)
          add(subject, *domain, dtype,
              {device.label(), device.facts.architecture, device.facts.cublaslt, device.id});
    }
  }

  void add(const Subject& subject, const LinearDomain& domain, Dtype dtype, const Place& place) {
    const LinearContract contract =
        subject.epilogue ? LinearContract::epilogue(profile_) : LinearContract::eager(profile_);
    Record record;
    record.op = kLinearGeluTanh;
    record.dtype = name(dtype);
    record.implementation = subject.implementation;
    record.device = place.device;
    record.architecture = place.architecture;
    record.profile = contract.profile_name();
    record.equality = "bitwise";
    record.evidence = "executed";
    record.library_version = place.library_version;
    record.machine_code_key =
        linear_machine_code_key(subject.implementation, place.architecture, place.library_version).value_or("");
    record.seed = seed_;
    set_domain(record, domain, domain.cases.size());

    const LinearSubject check{domain, location_of(subject), contract, record};
    const bool without_library = place.device_id && subject.path && place.library_version.empty();
    const std::optional<int> device_id = without_library ? std::nullopt : place.device_id;
    auto start = reference::visit_dtype(dtype, [&]<Half T>() { return starter<T>(subject, check, device_id); });
    plan_.push_back({std::move(record), std::move(start), without_library ? linear_library().reason : ""});
  }

  const reference::Profile& profile_;
  std::uint64_t seed_;
  const std::vector<CudaDevice>& devices_;
  std::vector<PlannedCheck> plan_;
};

template <Half T>
std::uint64_t digest_of(const LinearDomain& domain, const LinearContract& contract, std::uint64_t seed) {
  const ExpectedOutputs<T> expected(contract);
  std::uint64_t sum = 0;
  for (std::size_t block = 0; block < domain.cases.size(); ++block) {
    const auto predicted = predicted_case<T>(domain.cases[block], {domain.name, Location::host, seed, block});
    std::vector<T> outputs;
    outputs.reserve(predicted->accumulators.size());
    for (const float accumulator : predicted->accumulators) outputs.push_back(expected(accumulator));
    sum += digest(bits_of<T>(std::span<const T>(outputs)), first_index_of_block(block), seed);
  }
  return sum;
}

}  // namespace

std::vector<PlannedCheck> plan_linear(const reference::Profile& profile, std::uint64_t seed,
                                      const std::vector<CudaDevice>& devices) {
  return Planner(profile, seed, devices).plan();
}

std::optional<std::uint64_t> expected_digest_of_linear(std::string_view dtype_name, std::string_view profile,
                                                       std::string_view domain_name, std::uint64_t seed) {
  const auto dtype = reference::parse_dtype(dtype_name);
  if (!dtype || (domain_name != "values" && domain_name != "boundary")) return std::nullopt;
  const bool epilogue = profile == reference::kGeluEpilogueProfile;
  const auto eager = epilogue ? reference::kPytorch211Cuda : reference::find_profile(profile);
  if (!eager) return std::nullopt;
  const LinearContract contract = epilogue ? LinearContract::epilogue(*eager) : LinearContract::eager(*eager);
  const auto domain = make_linear_domain(domain_name, *dtype, Location::host, seed);
  return reference::visit_dtype(*dtype, [&]<Half T>() { return digest_of<T>(*domain, contract, seed); });
}

std::optional<std::string> linear_machine_code_key(std::string_view implementation,
                                                   std::string_view architecture,
                                                   std::string_view library_version) {
  std::string content;
  const auto add_code = [&](std::string_view part) {
    const auto key = machine_code_key(part, architecture);
    if (key) content += fmt::format("{} {}\n", part, *key);
    return key.has_value();
  };
  if (implementation == kHostEager)
    return add_code(kHostEager) && add_code("host.fused") ? std::optional(sha256_hex(content)) : std::nullopt;

  for (const LinearGeluPath path : {LinearGeluPath::eager, LinearGeluPath::cublaslt}) {
    if (implementation != kernels::name(path)) continue;
    const auto rule = linear_plan_rule(path);
    // Without an architecture of ours there is nothing that could have run.
    if (!rule || library_version.empty() || !machine_code_key("cuda.fused", architecture)) return std::nullopt;
    content = fmt::format("cuBLASLt {}\n{}\n", library_version, *rule);
    // The GELU kernel that follows the GEMM: the production one, and the scalar one for narrow rows.
    if (path == LinearGeluPath::eager && !(add_code("cuda.fused") && add_code("cuda.eager")))
      return std::nullopt;
    return sha256_hex(content);
  }
  return std::nullopt;
}

}  // namespace bitproof::conformance
