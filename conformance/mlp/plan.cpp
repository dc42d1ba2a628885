#include "conformance/mlp/plan.h"

#include <array>
#include <functional>
#include <memory>
#include <utility>

#include "conformance/linear/device.h"
#include "conformance/linear/plan.h"
#include "conformance/machine_code/keys.h"
#include "conformance/mlp/check.h"
#include "conformance/report/sha256.h"
#include "kernels/architecture.h"
#include "kernels/nvfp4/native.h"
#include "reference/linear/gelu_epilogue.h"

namespace bitproof::conformance {
namespace {

using reference::Dtype;

constexpr std::string_view kHostArchitecture = "x86_64";

// Rows of the production shape whose outputs are predicted.
constexpr std::uint64_t kPredictedRows = 64;

// Where an implementation is checked.
struct Where {
  std::string prefix;  // "host.", "cuda."
  std::string device, architecture, library_version;
  std::function<std::unique_ptr<MlpPlace>()> place;  // empty: not here
  std::string unavailable;
};

std::string_view profile_name(const MlpSubject& subject) {
  if (subject.against_unmounted) return kUnmountedProfile;
  if (is_nvfp4(subject.configuration)) return kNvfp4Profile;
  return subject.configuration == MlpConfiguration::high_epilogue ? reference::kGeluEpilogueProfile
                                                                  : subject.profile.name;
}

Record identity(const MlpSubject& subject, std::string_view domain, const Where& location, std::uint64_t seed) {
  Record record;
  record.op = kMlpGelu;
  record.dtype = name(subject.dtype);
  record.implementation = location.prefix + std::string(name(subject.configuration));
  record.domain = domain;
  record.device = location.device;
  record.architecture = location.architecture;
  record.profile = profile_name(subject);
  record.equality = "bitwise";
  record.evidence = "executed";
  record.machine_code_key =
      mlp_machine_code_key(record.implementation, record.architecture, location.library_version).value_or("");
  record.library_version = location.library_version;
  record.seed = seed;
  record.unit = "elements";
  record.sampled = true;  // one set of operands
  record.blocks_total = tested_states(subject).size();
  record.total = record.blocks_total * subject.rows_tested * subject.shape.columns;
  return record;
}

Where host_location() {
  return {"host.", "cpu", std::string(kHostArchitecture), kHostGemm, make_host_place, {}};
}

Where device_location(const CudaDevice& device, bool native_nvfp4) {
  Where where{"cuda.", device.label(), device.facts.architecture, device.facts.cublaslt, {}, {}};
  if (where.library_version.empty()) {
    where.unavailable = linear_library().reason;
  } else {
    where.place = [id = device.id, native_nvfp4] { return make_device_place(id, native_nvfp4); };
  }
  return where;
}

bool has_native_gemm(const CudaDevice& device) {
  const auto architecture = kernels::find_architecture(device.facts.architecture);
  return architecture && kernels::has_native_nvfp4(*architecture);
}

// Where a configuration is checked. Stand-ins are for what is not here: any GPU, or, for the native GEMM, one
// of an architecture that has it, which is another device than the GPUs that may be here.
std::vector<Where> locations(MlpConfiguration configuration, const std::vector<CudaDevice>& devices) {
  std::vector<Where> result;
  const bool native = configuration == MlpConfiguration::high_nvfp4_native;
  for (const CudaDevice& device : devices)
    if (!native || has_native_gemm(device)) result.push_back(device_location(device, native));
  if (native && result.empty())
    result.push_back({"cuda.",
                      "sm_100",
                      "sm_100",
                      "",
                      {},
                      devices.empty() ? "" : "no device of compute capability 10.0 or later is here"});
  if (native) return result;
  if (result.empty()) result.push_back({"cuda.", "cuda", "cuda", "", {}, ""});
  result.insert(result.begin(), host_location());
  return result;
}

std::optional<MlpSubject> subject_of(MlpConfiguration configuration, Dtype dtype,
                                     const reference::Profile& profile, std::string_view domain,
                                     const Where& location) {
  const bool on_host = location.prefix == "host.", small = domain == "small";
  if (domain == "production" && on_host) return std::nullopt;
  // Nothing predicts the native GEMM.
  if (configuration == MlpConfiguration::high_nvfp4_native && domain != "mounting") return std::nullopt;
  MlpSubject subject{.configuration = configuration,
                     .dtype = dtype,
                     .profile = profile,
                     .shape = on_host || small ? kSmallMlp : kWanMlp,
                     .against_unmounted = domain == "mounting",
                     .place = location.place,
                     .identity = {}};
  subject.rows_tested = domain == "production" ? kPredictedRows : subject.shape.rows;
  return subject;
}

}  // namespace

std::vector<PlannedCheck> plan_mlp(const reference::Profile& profile, std::uint64_t seed,
                                   const std::vector<CudaDevice>& devices) {
  std::vector<PlannedCheck> plan;
  // Operands are kept from check to check as long as dtype and shape stay.
  for (const Dtype dtype : {Dtype::bf16, Dtype::fp16})
    for (const std::string_view domain : kMlpDomains)
      for (const MlpConfigurationName& configuration : kMlpConfigurations)
        for (const Where& location : locations(configuration.configuration, devices)) {
          std::optional<MlpSubject> subject =
              subject_of(configuration.configuration, dtype, profile, domain, location);
          if (!subject) continue;
          subject->identity = identity(*subject, domain, location, seed);
          const Record record = subject->identity;
          std::function<std::unique_ptr<Check>()> start;
          if (location.place) start = [subject = std::move(*subject)] { return make_mlp_check(subject); };
          plan.push_back({record, std::move(start), location.unavailable});
        }
  return plan;
}

std::optional<std::string> mlp_machine_code_key(std::string_view implementation, std::string_view architecture,
                                                std::string_view library_version) {
  if (implementation.starts_with("host.")) return machine_code_key("host.fused", architecture);
  std::string content;
  for (const std::optional<std::string>& part :
       {linear_machine_code_key("cuda.eager", architecture, library_version),
        linear_machine_code_key("cuda.cublaslt", architecture, library_version),
        machine_code_key("cuda.mlp", architecture)}) {
    if (!part) return std::nullopt;
    content += *part + '\n';
  }
  return sha256_hex(content);
}

}  // namespace bitproof::conformance
