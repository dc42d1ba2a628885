#include "conformance/isolation/device_probe.h"

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "conformance/isolation/worker_process.h"

namespace bitproof::conformance {
namespace {

constexpr std::chrono::seconds kTimeLimit{60};

// A line per device, then one with the reason why there is none; ASCII's unit separator between the fields of a
// line.
constexpr char kSeparator = '\x1f';
constexpr std::array kFields{&Device::name, &Device::architecture, &Device::driver, &Device::cuda_runtime,
                             &Device::cublaslt};

std::string line_of(const CudaDevice& device) {
  std::string line = std::to_string(device.id);
  for (std::string Device::*const field : kFields) line += kSeparator + device.facts.*field;
  return line;
}

CudaDevice device_of(std::string_view line) {
  const auto take = [&line] {
    const std::size_t end = std::min(line.find(kSeparator), line.size());
    const std::string field(line.substr(0, end));
    line.remove_prefix(std::min(end + 1, line.size()));
    return field;
  };
  CudaDevice device;
  device.id = std::stoi(take());
  for (std::string Device::*const field : kFields) device.facts.*field = take();
  return device;
}

}  // namespace

CudaDevices probe_cuda_devices() {
  const Result<std::vector<std::string>> answer = ask_child(
      [](const SendLine& send) {
        const CudaDevices found = find_cuda_devices();
        for (const CudaDevice& device : found.devices) send(line_of(device));
        send(found.none_because);
      },
      kTimeLimit);
  if (!answer || answer->empty())
    return {{},
            "no CUDA device: looking for one failed: " + (answer ? "no answer" : answer.error().what) +
                "; see what `nvidia-smi` says"};
  CudaDevices found;
  found.none_because = answer->back();
  for (std::size_t i = 0; i + 1 < answer->size(); ++i) found.devices.push_back(device_of((*answer)[i]));
  return found;
}

}  // namespace bitproof::conformance
