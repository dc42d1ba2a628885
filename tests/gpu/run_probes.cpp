// Runs the probes of tests/conformance/emulator on CUDA device 0 and prints the digest of what each returned:
// the evidence that emulator-tests compares the emulator with.
//
//   run-probes CUBIN [RESULTS]      RESULTS: the first 4,096 words of each probe, 32 bits each, in order
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <cuda_runtime.h>

#include "conformance/device/cuda_devices.h"
#include "conformance/device/device_memory.h"
#include "conformance/report/sha256.h"
#include "kernels/cuda/device.h"
#include "tests/conformance/emulator/probes.h"

namespace {

using namespace bitproof::conformance;
using namespace bitproof::conformance::emulator;
using bitproof::kernels::cuda::check;

// Results are poisoned, so that an unwritten word shows in the digest of both sides.
constexpr unsigned char kPoisonByte = 0xA5;

class Runner {
 public:
  explicit Runner(const char* cubin) {
    check(cudaLibraryLoadFromFile(&library_, cubin, nullptr, nullptr, 0, nullptr, nullptr, 0),
          "cudaLibraryLoadFromFile");
  }
  ~Runner() { (void)cudaLibraryUnload(library_); }
  Runner(const Runner&) = delete;
  Runner& operator=(const Runner&) = delete;

  std::vector<std::uint32_t> run(const Probe& probe) {
    cudaKernel_t kernel = nullptr;
    check(cudaLibraryGetKernel(&kernel, library_, ("probe_" + std::string(probe.kernel)).c_str()),
          "cudaLibraryGetKernel");
    const std::uint32_t words = result_words(probe.kind);
    std::uint32_t* const results = results_.reserve(words);
    check(cudaMemset(results, kPoisonByte, words * sizeof(std::uint32_t)), "cudaMemset");
    launch(probe, reinterpret_cast<const void*>(kernel), results);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
    std::vector<std::uint32_t> host(words);
    check(cudaMemcpy(host.data(), results, words * sizeof(std::uint32_t), cudaMemcpyDeviceToHost),
          "cudaMemcpy");
    return host;
  }

 private:
  std::uint32_t* upload(std::size_t slot, const std::vector<std::uint32_t>& words) {
    std::uint32_t* const memory = operands_[slot].reserve(words.size());
    check(cudaMemcpy(memory, words.data(), words.size() * sizeof(std::uint32_t), cudaMemcpyHostToDevice),
          "cudaMemcpy");
    return memory;
  }

  void launch(const Probe& probe, const void* kernel, std::uint32_t* results) {
    switch (probe.kind) {
      case ProbeKind::lanes: {
        const LaneOperands operands = lane_operands(probe.operands);
        std::uint32_t *a = upload(0, operands.a), *b = upload(1, operands.b), *c = upload(2, operands.c),
                      *d = upload(3, operands.d), *second = results + kProbeElements, count = kProbeElements;
        void* arguments[] = {&a, &b, &c, &d, &results, &second, &count};
        check(cudaLaunchKernel(kernel, dim3(kProbeElements / 256), dim3(256), arguments, 0, nullptr), "launch");
        return;
      }
      case ProbeKind::uniform:
        for (std::uint32_t i = 0; i < kUniformLaunches; ++i) {
          UniformParameters p = uniform_parameters(i);
          p.results = reinterpret_cast<std::int64_t*>(results) + i * kUniformBlocks * kUniformResults;
          void* arguments[] = {&p.p, &p.q, &p.m, &p.n, &p.results};
          check(cudaLaunchKernel(kernel, dim3(kUniformBlocks), dim3(1), arguments, 0, nullptr), "launch");
        }
        return;
      case ProbeKind::special_registers: {
        void* arguments[] = {&results};
        check(
            cudaLaunchKernel(kernel, dim3(kSpecialGrid[0], kSpecialGrid[1], kSpecialGrid[2]),
                             dim3(kSpecialBlock[0], kSpecialBlock[1], kSpecialBlock[2]), arguments, 0, nullptr),
            "launch");
        return;
      }
    }
  }

  cudaLibrary_t library_ = nullptr;
  DeviceBuffer<std::uint32_t> operands_[4], results_;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: run-probes CUBIN [RESULTS]\n");
    return 2;
  }
  try {
    const CudaDevices devices = find_cuda_devices();
    if (devices.devices.empty()) {
      std::fprintf(stderr, "%s\n", devices.none_because.c_str());
      return 3;
    }
    std::ifstream stream(argv[1], std::ios::binary);
    const std::string cubin{std::istreambuf_iterator<char>(stream), {}};
    const Device& facts = devices.devices.front().facts;
    std::printf("# %s (%s), driver %s, CUDA %s\n# cubin %s\n", facts.name.c_str(), facts.architecture.c_str(),
                facts.driver.c_str(), facts.cuda_runtime.c_str(), sha256_hex(cubin).c_str());
    Runner runner(argv[1]);
    std::ofstream results;
    if (argc > 2) results.open(argv[2], std::ios::binary);
    for (const Probe& probe : probes()) {
      const std::vector<std::uint32_t> words = runner.run(probe);
      std::printf("%.*s %zu 0x%016llx\n", static_cast<int>(probe.kernel.size()), probe.kernel.data(),
                  words.size(), static_cast<unsigned long long>(probe_digest(words)));
      constexpr std::size_t kKept = 4096;
      const std::size_t kept = std::min(kKept, words.size());
      results.write(reinterpret_cast<const char*>(words.data()), static_cast<std::streamsize>(kept * 4));
    }
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "run-probes: %s\n", failure.what());
    return 3;
  }
}
