// Checks through the C interface: conformance/bitproof.h.
#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <dlfcn.h>

#include "conformance/bitproof.h"
#include "conformance/c_api/error.h"
#include "conformance/device/cuda_devices.h"
#include "conformance/foreign/callback.h"
#include "conformance/foreign/foreign_check.h"
#include "conformance/report/sha256.h"
#include "conformance/report/text_file.h"
#include "conformance/runner/build_info.h"
#include "conformance/runner/host_environment.h"
#include "reference/environment.h"

using namespace bitproof::conformance;

struct bitproof_check {
  ForeignRequest request;
  std::string name = "user", reproduce = "the same check";
  bool returns_output = false;
  std::optional<CudaDevice> device;  // none: the CPU
  std::string verdict{bitproof::conformance::name(Verdict::not_run)};
  std::string report;
};

namespace {

// The members of the caller's structure, whose version may have fewer than ours.
bitproof_check_options members_of(const bitproof_check_options& given) {
  bitproof_check_options options{};
  std::memcpy(&options, &given, std::min(given.struct_size, sizeof options));
  return options;
}

// More than any version will have: a structure that says so was not filled in.
constexpr std::size_t kLargestOptions = 4096;

// Whether a caller with a newer header sets what this library does not know and would leave out.
bool sets_unknown_members(const bitproof_check_options& given) {
  const auto* const bytes = reinterpret_cast<const unsigned char*>(&given);
  const std::size_t known = std::min(given.struct_size, sizeof given);
  return std::any_of(bytes + known, bytes + given.struct_size, [](unsigned char byte) { return byte != 0; });
}

std::string text_or(const char* text, std::string otherwise) {
  return text == nullptr ? std::move(otherwise) : std::string(text);
}

// Nothing for the CPU.
Result<std::optional<CudaDevice>> find_device(const char* asked) {
  const std::string label = text_or(asked, "");
  if (label == "cpu") return std::optional<CudaDevice>{};
  const CudaDevices found = find_cuda_devices();
  if (label.empty() && found.devices.empty()) return std::optional<CudaDevice>{};
  for (const CudaDevice& device : found.devices)
    if (label.empty() || label == "cuda" || label == device.label()) return std::optional(device);
  if (!label.starts_with("cuda"))
    return Error{ErrorKind::bad_argument, "is no device", "device " + label, "use cpu, cuda or cuda:N"};
  return Error{ErrorKind::unreadable,
               found.devices.empty() ? found.none_because : std::string("there is no such CUDA device"),
               "device " + label, "use another device"};
}

Result<ForeignRequest> request_of(const bitproof_check_options& options) {
  ForeignRequestText text;
  text.op = text_or(options.op, "");
  text.dtype = text_or(options.dtype, "");
  text.domains = text_or(options.domains, text.domains);
  text.profile = text_or(options.profile, text.profile);
  text.equality = text_or(options.equality, text.equality);
  if (options.seed != 0) text.seed = options.seed;
  return parse_foreign_request(text, "");
}

// Identifies this library, where an executable of ours would be identified by itself.
std::string library_identity() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&bitproof_check_create), &info) == 0) return "unknown";
  const Result<std::string> bytes = read_text_file(info.dli_fname, "");
  return bytes ? sha256_hex(*bytes).substr(0, 16) : "unknown";
}

ForeignKernel kernel_of(const bitproof_check& check, const Callback& callback) {
  ForeignKernel kernel;
  kernel.name = check.name;
  kernel.location = check.device ? Location::device : Location::host;
  kernel.returns_output = check.returns_output;
  kernel.reproduce = [how = check.reproduce](const std::string& domain, std::uint64_t block) {
    return how + ", domain " + domain + ", block " + std::to_string(block);
  };
  if (check.request.elementwise) {
    kernel.load = [&check, location = kernel.location, callback] {
      return callback_implementation(check.name, location, check.request, callback);
    };
  } else {
    kernel.load_linear = [&check, callback] { return linear_callback(check.request, callback); };
  }
  return kernel;
}

void run(bitproof_check& check, const Callback& callback) {
  check.verdict = name(Verdict::not_run);  // of this run, should it end here
  check.report.clear();
  bitproof::reference::require_environment();
  Report report;
  report.environment =
      describe_environment(check.device ? std::vector<CudaDevice>{*check.device} : std::vector<CudaDevice>{});
  report.environment.tool_build = library_identity();
  report.profile = check.request.profile.name;
  report.seed = check.request.seed;
  for (const PlannedCheck& planned : plan_foreign(check.request, kernel_of(check, callback), check.device))
    report.records.push_back(run_here(planned));
  report.run_id = run_id_of(report);
  check.verdict = name(worst_verdict(report.records));
  check.report = to_text(report);
}

}  // namespace

int bitproof_api_version(void) { return 1000 * BITPROOF_API_MAJOR + BITPROOF_API_MINOR; }

const char* bitproof_version(void) { return kToolVersion.data(); }

const char* bitproof_contracts(void) {
  static const std::string kJson = contracts_json();
  return kJson.c_str();
}

bitproof_status bitproof_check_create(const bitproof_check_options* given, bitproof_check** check) {
  return c_api::guarded([&] {
    if (given == nullptr || check == nullptr)
      return c_api::fail(BITPROOF_BAD_ARGUMENT, "bitproof_check_create: a pointer is null");
    *check = nullptr;
    if (given->struct_size < offsetof(bitproof_check_options, domains) || given->struct_size > kLargestOptions)
      return c_api::fail(BITPROOF_BAD_ARGUMENT,
                         "struct_size: is not that of any version; set it to sizeof(bitproof_check_options)");
    if (sets_unknown_members(*given))
      return c_api::fail(
          BITPROOF_BAD_ARGUMENT,
          "struct_size: has members that this library does not know, and they are set; leave them zero, "
          "or use the libbitproof.so of the header");
    const bitproof_check_options options = members_of(*given);
    Result<ForeignRequest> request = request_of(options);
    if (!request) return c_api::fail(BITPROOF_BAD_ARGUMENT, request.error().message());
    Result<std::optional<CudaDevice>> device = find_device(options.device);
    if (!device)
      return c_api::fail(
          device.error().kind == ErrorKind::bad_argument ? BITPROOF_BAD_ARGUMENT : BITPROOF_COULD_NOT_RUN,
          device.error().message());
    auto made = std::make_unique<bitproof_check>();
    made->request = *std::move(request);
    made->name = text_or(options.name, made->name);
    made->reproduce = text_or(options.reproduce, made->reproduce);
    made->returns_output = options.returns_output != 0;
    made->device = *std::move(device);
    *check = made.release();
    return BITPROOF_OK;
  });
}

bitproof_status bitproof_check_run(bitproof_check* check, bitproof_kernel_function kernel, void* user_data) {
  return c_api::guarded([&] {
    if (check == nullptr || kernel == nullptr)
      return c_api::fail(BITPROOF_BAD_ARGUMENT, "bitproof_check_run: a pointer is null");
    run(*check, {kernel, user_data, check->returns_output});
    return BITPROOF_OK;
  });
}

bitproof_status bitproof_call_return(const bitproof_call* call, const DLTensor* result) {
  return c_api::guarded([&] {
    if (call == nullptr || result == nullptr)
      return c_api::fail(BITPROOF_BAD_ARGUMENT, "bitproof_call_return: a pointer is null");
    return_output(*call, *result);
    return BITPROOF_OK;
  });
}

const char* bitproof_check_verdict(const bitproof_check* check) {
  return check == nullptr ? "not_run" : check->verdict.c_str();
}

const char* bitproof_check_report(const bitproof_check* check) {
  return check == nullptr ? "" : check->report.c_str();
}

void bitproof_check_destroy(bitproof_check* check) { delete check; }
