// The life of a request: fusions are mounted when a batch of Quality::high starts and unmounted when it ends,
// also by an exception.
#pragma once

#include <mutex>
#include <vector>

#include "kernels/fusion/quality_gate.h"
#include "kernels/linear_gelu/dispatcher.h"

namespace bitproof::kernels {

class FusionRequests;

// Ends when it goes out of scope.
class [[nodiscard]] Request {
 public:
  ~Request();
  Request(const Request&) = delete;
  Request& operator=(const Request&) = delete;

  Quality quality() const { return quality_; }

  // What mounting gave, handler by handler, to the first of the batches that overlap in time; empty for the
  // others and for lossless ones.
  const std::vector<MountResult>& mounts() const { return mounts_; }

 private:
  friend class FusionRequests;
  Request(FusionRequests& owner, Quality quality);

  FusionRequests& owner_;
  Quality quality_;
  std::vector<MountResult> mounts_;
};

// Threads: begin() and the end of a request may happen on any thread. Of high batches that overlap in time, the
// first mounts and the last unmounts. A lossless batch mounts nothing, and runs eager beside mounted ones.
class FusionRequests {
 public:
  // One list for all fusions, in the order of mounting; they and the root must outlive this.
  FusionRequests(Module& root, std::vector<QualityGate*> handlers);

  Request begin(Quality quality = Quality::lossless);

 private:
  friend class Request;
  std::vector<MountResult> start_high();
  void end_high();
  void unmount_all();

  Module& root_;
  const std::vector<QualityGate*> handlers_;
  std::mutex mutex_;
  int running_high_ = 0;
};

}  // namespace bitproof::kernels
