#include "conformance/report/shard.h"

#include <charconv>
#include <cstdlib>

#include <fmt/format.h>

namespace bitproof::conformance {
namespace {

std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return value;
}

Error bad(std::string what, std::string where, std::string remedy) {
  return {ErrorKind::bad_argument, std::move(what), std::move(where), std::move(remedy)};
}

// The number in a variable that must be set once its launcher was recognised.
Result<std::uint64_t> number_in(const EnvironmentLookup& lookup, const char* variable) {
  const std::optional<std::string> text = lookup(variable);
  if (!text) return bad("not set", variable, "give --shard I/N instead");
  const std::optional<std::uint64_t> value = parse_count(*text);
  if (!value) return bad(fmt::format("\"{}\" is not a number", *text), variable, "give --shard I/N instead");
  return *value;
}

// A launcher that tells a process its rank among `size`.
Result<std::optional<Shard>> rank_of(const EnvironmentLookup& lookup, const char* rank, const char* size) {
  if (!lookup(rank)) return std::optional<Shard>{};
  const Result<std::uint64_t> index = number_in(lookup, rank);
  if (!index) return index.error();
  const Result<std::uint64_t> count = number_in(lookup, size);
  if (!count) return count.error();
  if (*index >= *count)
    return bad(fmt::format("rank {} of {}", *index, *count), fmt::format("{}, {}", rank, size),
               "give --shard I/N instead");
  return std::optional{Shard{*index, *count}};
}

// https://slurm.schedmd.com/job_array.html: task ids are MIN, MIN + STEP, ..., COUNT of them, unless the array
// was submitted as a list with holes, in which no task can tell how many came before it.
Result<std::optional<Shard>> slurm_array(const EnvironmentLookup& lookup) {
  if (!lookup("SLURM_ARRAY_TASK_ID")) return std::optional<Shard>{};
  const Result<std::uint64_t> id = number_in(lookup, "SLURM_ARRAY_TASK_ID");
  if (!id) return id.error();
  const Result<std::uint64_t> count = number_in(lookup, "SLURM_ARRAY_TASK_COUNT");
  if (!count) return count.error();
  const Result<std::uint64_t> least = number_in(lookup, "SLURM_ARRAY_TASK_MIN");
  if (!least) return least.error();
  std::uint64_t step = 1;
  if (lookup("SLURM_ARRAY_TASK_STEP")) {
    const Result<std::uint64_t> given = number_in(lookup, "SLURM_ARRAY_TASK_STEP");
    if (!given) return given.error();
    step = *given;
  }
  const bool regular =
      step > 0 && *id >= *least && (*id - *least) % step == 0 && (*id - *least) / step < *count;
  if (!regular)
    return bad(fmt::format("task {} is not one of {} from {} in steps of {}", *id, *count, *least, step),
               "SLURM_ARRAY_TASK_ID", "submit a range such as --array=0-7, or give --shard I/N");
  return std::optional{Shard{(*id - *least) / step, *count}};
}

}  // namespace

std::string name(const Shard& shard) { return fmt::format("{}/{}", shard.index, shard.count); }

BlockRange share_of(const Shard& shard, std::uint64_t blocks_total) {
  // 128 bits: the product of two 64-bit counts.
  const auto bound = [&](std::uint64_t index) {
    return static_cast<std::uint64_t>(static_cast<unsigned __int128>(index) * blocks_total / shard.count);
  };
  return {bound(shard.index), bound(shard.index + 1)};
}

Result<Shard> parse_shard(std::string_view text) {
  const std::string where = fmt::format("--shard {}", text);
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return bad("no \"I/N\"", where, "write for example --shard 0/4");
  const auto index = parse_count(text.substr(0, slash));
  const auto count = parse_count(text.substr(slash + 1));
  if (!index || !count)
    return bad("I and N of \"I/N\" must be numbers", where, "write for example --shard 0/4");
  if (*index >= *count)
    return bad(fmt::format("there is no shard {} of {}", *index, *count), where, "shards count from 0 to N-1");
  return Shard{*index, *count};
}

EnvironmentLookup process_environment() {
  return [](const char* variable) -> std::optional<std::string> {
    const char* const value = std::getenv(variable);
    if (value == nullptr) return std::nullopt;
    return value;
  };
}

Result<Shard> shard_from_environment(const EnvironmentLookup& lookup) {
  const Result<std::optional<Shard>> task = slurm_array(lookup);
  if (!task) return task.error();
  Result<std::optional<Shard>> rank = rank_of(lookup, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
  if (rank && !rank->has_value()) rank = rank_of(lookup, "PMI_RANK", "PMI_SIZE");
  if (!rank) return rank.error();

  const Shard outer = task->value_or(Shard{});
  const Shard inner = rank->value_or(Shard{});
  return Shard{outer.index * inner.count + inner.index, outer.count * inner.count};
}

Result<Shard> resolve_shard(const std::optional<std::string>& option, const EnvironmentLookup& lookup) {
  return option ? parse_shard(*option) : shard_from_environment(lookup);
}

}  // namespace bitproof::conformance
