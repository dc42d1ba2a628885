#include "kernels/fusion/requests.h"

#include <ranges>
#include <utility>

namespace bitproof::kernels {

Request::Request(FusionRequests& owner, Quality quality) : owner_(owner), quality_(quality) {
  if (quality_ == Quality::high) mounts_ = owner_.start_high();
}

Request::~Request() {
  if (quality_ == Quality::high) owner_.end_high();
}

FusionRequests::FusionRequests(Module& root, std::vector<QualityGate*> handlers)
    : root_(root), handlers_(std::move(handlers)) {}

Request FusionRequests::begin(Quality quality) { return {*this, quality}; }

std::vector<MountResult> FusionRequests::start_high() {
  const std::lock_guard lock(mutex_);
  std::vector<MountResult> results;
  if (running_high_ == 0) {
    try {
      for (QualityGate* const handler : handlers_) results.push_back(handler->mount(root_));
    } catch (...) {
      unmount_all();
      throw;
    }
  }
  ++running_high_;
  return results;
}

void FusionRequests::end_high() {
  const std::lock_guard lock(mutex_);
  if (--running_high_ == 0) unmount_all();
}

void FusionRequests::unmount_all() {
  for (QualityGate* const handler : handlers_ | std::views::reverse) handler->unmount(root_);
}

}  // namespace bitproof::kernels
