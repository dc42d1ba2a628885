// The probes of probes.cu: their operands, and how each is launched. The same on a card and in the emulator.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace bitproof::conformance::emulator {

enum class ProbeKind {
  lanes,              // (as, bs, cs, ds, rs, ss, count): 256 threads a block
  uniform,            // (p, q, m, n, results) for every set of parameters: 2 blocks of 1 thread
  special_registers,  // (results): 3 x 2 x 2 blocks of 5 x 3 x 2 threads
};

enum class ProbeOperands { fp32, half, integer };

struct Probe {
  std::string_view kernel;    // without "probe_"
  std::string_view mnemonic;  // starts one of its instructions on sm_90
  ProbeKind kind;
  ProbeOperands operands;
};

std::span<const Probe> probes();

// Operands of `lanes` probes: every triple of special values, then random ones, all from the index alone.
inline constexpr std::uint32_t kProbeElements = 1u << 18;
struct LaneOperands {
  std::vector<std::uint32_t> a, b, c, d;
};
LaneOperands lane_operands(ProbeOperands kind);

// Parameters of `uniform` probes.
struct UniformParameters {
  std::int64_t p, q;
  std::int32_t m, n;
  std::int64_t* results;
};
inline constexpr std::uint32_t kUniformLaunches = 512, kUniformBlocks = 2, kUniformResults = 16;
UniformParameters uniform_parameters(std::uint32_t launch);

inline constexpr std::array<std::uint32_t, 3> kSpecialGrid{3, 2, 2}, kSpecialBlock{5, 3, 2};
inline constexpr std::uint32_t kSpecialThreads = 12 * 30;

// Words that a probe leaves.
std::uint32_t result_words(ProbeKind kind);

// Digest of a probe's results: conformance/digest.h with seed 1 and the word's position.
std::uint64_t probe_digest(std::span<const std::uint32_t> words);

}  // namespace bitproof::conformance::emulator
