#include "conformance/runner/host_environment.h"

#include <chrono>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "conformance/report/sha256.h"
#include "conformance/runner/build_info.h"

namespace bitproof::conformance {
namespace {

// The value after `key` on the first line of `file` that starts with it.
std::string value_in(const char* file, std::string_view key, char separator) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (!line.starts_with(key)) continue;
    const std::size_t at = line.find(separator);
    if (at == std::string::npos) continue;
    std::string value = line.substr(at + 1);
    std::erase(value, '"');
    return value.substr(std::min(value.find_first_not_of(' '), value.size()));
  }
  return "unknown";
}

std::string operating_system() {
  utsname system{};
  uname(&system);
  return fmt::format("{}, {} {} {}", value_in("/etc/os-release", "PRETTY_NAME", '='), system.sysname,
                     system.release, system.machine);
}

// First 16 digits of the SHA-256 of the running executable.
std::string executable_identity() {
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  return sha256_hex(bytes).substr(0, 16);
}

std::chrono::sys_seconds now() {
  return std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
}

}  // namespace

Environment describe_environment(const std::vector<CudaDevice>& devices) {
  utsname system{};
  uname(&system);
  Environment environment;
  environment.tool_version = kToolVersion;
  environment.tool_build = executable_identity();
  environment.host = system.nodename;
  environment.os = operating_system();
  environment.cpu = fmt::format("{}, {} threads", value_in("/proc/cpuinfo", "model name", ':'),
                                sysconf(_SC_NPROCESSORS_ONLN));
  environment.toolchain = kToolchain;
  for (const CudaDevice& device : devices) environment.devices.push_back(device.facts);
  environment.started =
      fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::chrono::system_clock::to_time_t(now())));
  return environment;
}

std::string fresh_report_name() {
  return fmt::format("{:%Y%m%dT%H%M%SZ}-{}", fmt::gmtime(std::chrono::system_clock::to_time_t(now())),
                     getpid());
}

}  // namespace bitproof::conformance
