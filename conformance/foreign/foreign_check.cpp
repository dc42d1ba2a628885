#include "conformance/foreign/foreign_check.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <utility>

#include "conformance/domain_record.h"
#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/elementwise_check.h"
#include "conformance/linear/check.h"
#include "conformance/report/combine.h"

namespace bitproof::conformance {
namespace {

bool is_asked_for(const Layout& layout, bool returns_output) {
  if (layout.aliasing == Aliasing::partial_overlap || layout.aliasing == Aliasing::over_bias) return false;
  if (!returns_output) return true;
  return layout.aliasing == Aliasing::separate && layout.output_offset == 0 &&
         layout.launch != Launch::graph_replay;
}

// The blocks of `domain`, which counts cases, that this kind of kernel is asked for.
ElementwiseDomain restricted(ElementwiseDomain domain, bool returns_output) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t block = 0; block < domain.blocks; ++block)
    if (is_asked_for(domain.make_case(block).layout, returns_output)) blocks.push_back(block);
  domain.total = domain.blocks = blocks.size();
  domain.make_case = [all = domain.make_case, blocks = std::move(blocks)](std::uint64_t block) {
    return all(blocks[block]);
  };
  return domain;
}

// `Domain` is that of elementwise operators or of linear layers.
template <class Domain>
Record identity(const ForeignRequest& request, const ForeignKernel& kernel, const Domain& domain,
                std::uint64_t blocks, const std::optional<CudaDevice>& device) {
  Record record;
  record.op = request.op;
  record.dtype = reference::name(request.dtype);
  record.implementation = kernel.name;
  const bool on_gpu = kernel.location == Location::device;
  record.device = device ? device->label() : on_gpu ? "cuda" : "cpu";
  record.architecture = device ? device->facts.architecture : on_gpu ? "cuda" : "x86_64";
  record.profile = request.profile.name;
  record.equality = request.equality;
  record.evidence = "executed";
  record.machine_code_key = kernel.machine_code_key;
  record.seed = request.seed;
  set_domain(record, domain, blocks);
  return record;
}

Record failed(Record record, const std::exception& failure) {
  record.verdict = Verdict::error;
  record.reason = failure.what();
  return record;
}

PlannedCheck plan_elementwise(const ForeignRequest& request, const ForeignKernel& kernel,
                              const std::string& name, const std::optional<CudaDevice>& device) {
  const ElementwiseOperator& op = *request.elementwise;
  ElementwiseDomain domain = *make_domain(name, op, request.dtype, kernel.location, request.seed);
  if (name == "layout") domain = restricted(std::move(domain), kernel.returns_output);
  const Record record = identity(request, kernel, domain, domain.blocks, device);
  if (!kernel.load) return {record, {}, kernel.unavailable};
  const auto start = [request, kernel, domain, record, device]() -> std::unique_ptr<Check> {
    const ElementwiseSubject subject{
        *request.elementwise,
        request.dtype,
        request.profile,
        kernel.load(),
        domain,
        record,
        [kernel, name = domain.name](std::uint64_t block) { return kernel.reproduce(name, block); }};
    if (kernel.location == Location::host) return make_host_check(subject);
    return make_device_check(subject, device->id);
  };
  return {record, start, {}};
}

PlannedCheck plan_linear_call(const ForeignRequest& request, const ForeignKernel& kernel,
                              const std::string& name, const std::optional<CudaDevice>& device) {
  LinearDomain domain = *make_linear_domain(name, request.dtype, kernel.location, request.seed);
  // They are the last ones, so that the other cases keep their numbers.
  while (domain.cases.back().must_be_refused) domain.cases.pop_back();
  if (domain.unit == "cases") domain.total = domain.cases.size();
  const LinearContract contract =
      request.epilogue ? LinearContract::epilogue(request.profile) : LinearContract::eager(request.profile);
  Record record = identity(request, kernel, domain, domain.cases.size(), device);
  record.profile = contract.profile_name();
  if (!kernel.load_linear) return {record, {}, kernel.unavailable};
  const LinearSubject subject{domain,
                              kernel.location,
                              contract,
                              record,
                              [kernel, name](std::uint64_t block) { return kernel.reproduce(name, block); },
                              true};
  const auto start = [subject, kernel, dtype = request.dtype, device] {
    return reference::visit_dtype(dtype, [&]<reference::Half T>() {
      return make_linear_check<T>(subject, kernel.location == Location::host
                                               ? make_host_launcher<T>(kernel.load_linear())
                                               : make_device_launcher<T>(kernel.load_linear(), device->id));
    });
  };
  return {record, start, {}};
}

}  // namespace

std::vector<PlannedCheck> plan_foreign(const ForeignRequest& request, const ForeignKernel& kernel,
                                       const std::optional<CudaDevice>& device) {
  std::vector<PlannedCheck> plan;
  for (const std::string& name : request.domains)
    plan.push_back(request.elementwise ? plan_elementwise(request, kernel, name, device)
                                       : plan_linear_call(request, kernel, name, device));
  return plan;
}

Record run_here(const PlannedCheck& planned) {
  const auto started = std::chrono::steady_clock::now();
  Record sum = planned.record;
  try {
    const std::unique_ptr<Check> check = planned.start();
    for (std::uint64_t block = 0; block < sum.blocks_total && sum.verdict != Verdict::error; ++block) {
      Result<Record> next = combine(sum, check->run_block(block));
      if (!next) throw std::logic_error(next.error().message());
      sum = *std::move(next);
    }
  } catch (const std::exception& failure) {
    return failed(std::move(sum), failure);
  }
  sum.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
  const BlockRange all{0, sum.blocks_total};
  return decided(std::move(sum), all);
}

Verdict worst_verdict(const std::vector<Record>& records) {
  const auto any = [&records](Verdict verdict) {
    return std::ranges::any_of(records, [verdict](const Record& r) { return r.verdict == verdict; });
  };
  for (const Verdict verdict : {Verdict::error, Verdict::mismatch, Verdict::refused, Verdict::not_run,
                                Verdict::known_mismatch, Verdict::within_contract})
    if (any(verdict)) return verdict;
  return records.empty() ? Verdict::not_run : Verdict::bit_exact;
}

}  // namespace bitproof::conformance
