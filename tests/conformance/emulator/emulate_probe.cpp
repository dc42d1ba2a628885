#include "tests/conformance/emulator/emulate_probe.h"

#include <cstddef>
#include <span>
#include <string>

#include "conformance/emulator/launch.h"

namespace bitproof::conformance::emulator {
namespace {

constexpr std::uint32_t kPoison32 = 0xA5A5A5A5u;

std::uint64_t address(const std::vector<std::uint32_t>& words) {
  return reinterpret_cast<std::uintptr_t>(words.data());
}

MemoryRegion region(const char* name, const std::vector<std::uint32_t>& words, bool is_result) {
  return {name,       address(words), address(words) + words.size() * sizeof(std::uint32_t),
          !is_result, is_result,      !is_result};
}

template <class T>
std::span<const std::byte> bytes_of(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}

struct LaneParameters {
  std::uint64_t a, b, c, d, r, s;
  std::uint32_t count;
  std::uint32_t padding = 0;
};

}  // namespace

std::vector<std::uint32_t> emulate_probe(const Probe& probe, const Program& program) {
  std::vector<std::uint32_t> results(result_words(probe.kind), kPoison32);
  std::vector<MemoryRegion> regions{region("results", results, true)};
  switch (probe.kind) {
    case ProbeKind::lanes: {
      const LaneOperands operands = lane_operands(probe.operands);
      regions.push_back(region("as", operands.a, false));
      regions.push_back(region("bs", operands.b, false));
      regions.push_back(region("cs", operands.c, false));
      regions.push_back(region("ds", operands.d, false));
      GlobalMemory memory(regions);
      const LaneParameters parameters{.a = address(operands.a),
                                      .b = address(operands.b),
                                      .c = address(operands.c),
                                      .d = address(operands.d),
                                      .r = address(results),
                                      .s = address(results) + kProbeElements * sizeof(std::uint32_t),
                                      .count = kProbeElements};
      launch(program, {{kProbeElements / 256, 1, 1}, {256, 1, 1}}, bytes_of(parameters), memory);
      break;
    }
    case ProbeKind::uniform:
      for (std::uint32_t i = 0; i < kUniformLaunches; ++i) {
        GlobalMemory memory(regions);
        UniformParameters parameters = uniform_parameters(i);
        parameters.results =
            reinterpret_cast<std::int64_t*>(results.data()) + i * kUniformBlocks * kUniformResults;
        launch(program, {{kUniformBlocks, 1, 1}, {1, 1, 1}}, bytes_of(parameters), memory);
      }
      break;
    case ProbeKind::special_registers: {
      GlobalMemory memory(regions);
      launch(program, {kSpecialGrid, kSpecialBlock}, bytes_of(address(results)), memory);
      break;
    }
  }
  return results;
}

}  // namespace bitproof::conformance::emulator
