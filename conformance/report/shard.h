// Which part of every domain this process tests. Shards are contiguous ranges of blocks, so shard I of N of a
// domain of B blocks is [I*B/N, (I+1)*B/N): the N of them cover the domain exactly once, whatever N is.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "conformance/report/record.h"
#include "conformance/report/result.h"

namespace bitproof::conformance {

struct Shard {
  std::uint64_t index = 0;  // from 0
  std::uint64_t count = 1;
  bool operator==(const Shard&) const = default;
};

// "0/4"
std::string name(const Shard& shard);

BlockRange share_of(const Shard& shard, std::uint64_t blocks_total);

// "I/N" with 0 <= I < N.
Result<Shard> parse_shard(std::string_view text);

// Value of an environment variable; injected so that tests need not change the process.
using EnvironmentLookup = std::function<std::optional<std::string>(const char* variable)>;
EnvironmentLookup process_environment();

// The rank that a scheduler gave this process: a Slurm array (SLURM_ARRAY_TASK_ID, _MIN, _STEP, _COUNT),
// OpenMPI (OMPI_COMM_WORLD_RANK, _SIZE) or any launcher that speaks PMI (PMI_RANK, PMI_SIZE). An MPI job inside
// an array task is a shard of a shard. {0, 1} without any of them.
Result<Shard> shard_from_environment(const EnvironmentLookup& lookup);

// `--shard TEXT` where it was given, else the scheduler's rank. `--shard 0/1` therefore switches sharding off.
Result<Shard> resolve_shard(const std::optional<std::string>& option, const EnvironmentLookup& lookup);

}  // namespace bitproof::conformance
