#include "conformance/emulator/emulated_plan.h"

#include <array>
#include <memory>
#include <string>
#include <string_view>

#include "conformance/elementwise/elementwise_check.h"
#include "conformance/elementwise/elementwise_plan.h"
#include "conformance/emulator/emulated_kernels.h"
#include "conformance/emulator/listings.h"
#include "conformance/machine_code/keys.h"
#include "kernels/architecture.h"

namespace bitproof::conformance {
namespace {

using emulator::EmulatedKernels;
using emulator::KernelFamily;

constexpr std::array kFamilies{KernelFamily::fused, KernelFamily::eager, KernelFamily::baseline};
constexpr std::array<std::string_view, 3> kNames{"emulated.fused", "emulated.eager", "emulated.baseline"};
constexpr std::array<std::string_view, 5> kDomains{"values", "boundary", "random", "layout", "pairs_sample"};

// Eager's kernels, one element a thread, are the slowest to emulate and the least to be feared: all values and
// the boundary, and on the architecture with a card what its digests can be compared with.
bool is_planned(KernelFamily family, const kernels::ArchitectureTraits& traits, std::string_view domain) {
  constexpr int kWithCard = 90;
  if (family != KernelFamily::eager || domain == "values" || domain == "boundary") return true;
  return domain == "random" && traits.compute_capability == kWithCard;
}

std::uint32_t vector_elements(KernelFamily family, const kernels::ArchitectureTraits& traits) {
  if (family == KernelFamily::eager) return 1;
  return family == KernelFamily::baseline ? 8 : static_cast<std::uint32_t>(traits.vector_bytes / 2);
}

// Loads and decodes when the check starts, so that planning is cheap.
ElementwiseImplementation load(ElementwiseImplementation implementation, KernelFamily family,
                               const kernels::ArchitectureTraits& traits, reference::Dtype dtype,
                               bool has_bias) {
  const auto listing = emulator::find_listing(emulator::machine_code_of(family), traits.name);
  const auto kernels = std::make_shared<const EmulatedKernels>(family, *listing, dtype, has_bias);
  implementation.can_use = [kernels](const Tensors& tensors) { return kernels->can_use(tensors); };
  implementation.run = [kernels](const Tensors& tensors, CUstream_st*) { kernels->run(tensors); };
  return implementation;
}

}  // namespace

std::vector<PlannedCheck> plan_emulated(const reference::Profile& profile, std::uint64_t seed) {
  std::vector<PlannedCheck> plan;
  const auto add = [&](const ElementwiseOperator& op, reference::Dtype dtype,
                       const kernels::ArchitectureTraits& traits, KernelFamily family,
                       std::string_view domain_name) {
    const auto domain = make_domain(domain_name, op, dtype, Location::host, seed);
    if (!domain) return;
    const std::string_view machine_code = emulator::machine_code_of(family);
    Record record = planned_record(op, dtype, profile, seed, *domain);
    record.implementation = kNames[static_cast<std::size_t>(family)];
    record.device = "emulated:" + std::string(traits.name);
    record.architecture = traits.name;
    record.evidence = name(Evidence::emulated);
    record.machine_code_key = machine_code_key(record.implementation, traits.name).value_or("");
    const ElementwiseImplementation implementation{.name = std::string(kNames[static_cast<std::size_t>(family)]),
                                                   .location = Location::host,
                                                   .vector_elements = vector_elements(family, traits),
                                                   .can_use = {},
                                                   .run = {}};
    const ElementwiseSubject subject{op, dtype, profile, implementation, *domain, record};
    std::string unavailable = emulator::listing_unavailable(machine_code, traits.name);
    std::function<std::unique_ptr<Check>()> start;
    if (unavailable.empty())
      start = [subject, family, traits] {
        ElementwiseSubject loaded = subject;
        loaded.implementation =
            load(subject.implementation, family, traits, subject.dtype, subject.op.has_bias);
        return make_host_check(loaded);
      };
    plan.push_back({std::move(record), std::move(start), std::move(unavailable)});
  };
  for (const kernels::ArchitectureTraits& traits : kernels::kArchitectures)
    for (const ElementwiseOperator& op : kElementwiseOperators)
      for (const reference::Dtype dtype : {reference::Dtype::bf16, reference::Dtype::fp16})
        for (const KernelFamily family : kFamilies)
          for (const std::string_view domain : kDomains)
            if (is_planned(family, traits, domain)) add(op, dtype, traits, family, domain);
  return plan;
}

}  // namespace bitproof::conformance
