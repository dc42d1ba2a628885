// Runs shares in worker processes: one per implementation and device, a fresh one after each that died.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "conformance/isolation/share.h"

namespace bitproof::conformance {

struct IsolationOptions {
  std::uint64_t memory_bytes = 0;  // of a worker on the CPU; 0: no limit
  // Asked after every event; true ends all workers and the run.
  std::function<bool()> stop = [] { return false; };
};

// The shares of an implementation on a device run in one worker, in order. A worker that ends before it is
// done, by a signal, by exit() or because nothing came of it for its time limit, makes the share that it was at
// `failed`, with how it ended and the blocks it was in; the next worker goes on with the share after that.
// Devices take turns, but for GPUs, which work at the same time. Nothing is left running, also not when a
// signal ends this process.
//
// This guards against accidents. Code that means to forge its verdict can: it runs in the process that reports
// it.
//
// Must be called before this process initialises CUDA (worker_process.h).
void run_isolated(std::vector<Share> shares, CheckEvents& events, const IsolationOptions& options = {});

}  // namespace bitproof::conformance
