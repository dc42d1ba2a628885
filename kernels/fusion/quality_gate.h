// Which sites of a model may run fused, and the switch that turns them all on or all off.
//
// A gate is in charge of one fusion. Marking a site makes it a target; mounting a root turns on every target at
// or below it, or none. While a site is mounted, requests of Quality::high may run it fused; lossless requests
// run it eager at any time.
//
// Threads: every function may be called from any thread at any time, also while others run requests on the same
// sites: a run reads each switch once, and any mixture of switches gives the right bits. One gate object per
// fusion and tree. The tree itself, and its layers, must not change meanwhile.
#pragma once

#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "kernels/elementwise_guard.h"
#include "kernels/fusion/log.h"
#include "kernels/fusion/module.h"

namespace bitproof::kernels {

// Why a site is not mounted.
struct SiteRefusal {
  std::string site;  // path from the root: "model.block.mlp"
  std::string reason;
  bool operator==(const SiteRefusal&) const = default;
};

struct MountResult {
  bool mounted = false;
  std::vector<SiteRefusal> refusals;  // of all refused sites, in the order of sites()
};

class QualityGate {
 public:
  explicit QualityGate(Fusion fusion, Log log = log_to_standard_error);
  virtual ~QualityGate() = default;
  QualityGate(const QualityGate&) = delete;
  QualityGate& operator=(const QualityGate&) = delete;

  // Makes the site a target. It stays one.
  void mark(FusionSite& site) const;

  // Whether the site is mounted now.
  bool is_enabled(const FusionSite& site) const { return site.is_mounted(fusion_); }

  // The targets at or below `root`, depth first.
  std::vector<FusionSite*> sites(Module& root) const;

  // Yes, or why this site cannot be mounted.
  Applicability can_mount(const FusionSite& site) const;

  // Mounts every target at or below `root`, if all can be. If one is refused, all are unmounted, the reasons of
  // all refused ones are returned, and each is logged the first time. Mounted already: nothing changes. No
  // target: not mounted, no refusals.
  MountResult mount(Module& root);

  // Every target at or below `root` is on its reference path afterwards, its flags as they were before it was
  // mounted. Harmless for what is not mounted.
  void unmount(Module& root);

 protected:
  // Whether the fusion can serve a site that is a target.
  virtual Applicability can_serve(const FusionSite& site) const = 0;

  // Sets what mounting needs; returns what leave() restores.
  virtual bool enter(FusionSite&) const { return false; }
  virtual void leave(FusionSite&, bool /*before*/) const {}

 private:
  void unmount_all(const std::vector<FusionSite*>& targets) const;
  void log_once(const SiteRefusal& refusal);

  const Fusion fusion_;
  const Log log_;
  std::mutex mutex_;  // of mounting and unmounting
  std::set<std::string> logged_;
};

}  // namespace bitproof::kernels
