#include "kernels/fusion/quality_gate.h"

#include <cstdio>
#include <utility>

namespace bitproof::kernels {
namespace {

struct Target {
  FusionSite* site;
  std::string path;
};

void collect(Fusion fusion, Module& module, const std::string& path, std::vector<Target>& targets) {
  auto* const site = dynamic_cast<FusionSite*>(&module);
  if (site != nullptr && site->is_marked(fusion)) targets.push_back({site, path});
  for (Module* const child : module.children()) collect(fusion, *child, path + "." + child->name(), targets);
}

std::vector<Target> targets_of(Fusion fusion, Module& root) {
  std::vector<Target> targets;
  collect(fusion, root, root.name(), targets);
  return targets;
}

}  // namespace

void log_to_standard_error(const std::string& line) {
  (void)std::fprintf(stderr, "bitproof: %s\n", line.c_str());
}

QualityGate::QualityGate(Fusion fusion, Log log) : fusion_(fusion), log_(std::move(log)) {}

void QualityGate::mark(FusionSite& site) const { site.state(fusion_).marked = true; }

std::vector<FusionSite*> QualityGate::sites(Module& root) const {
  std::vector<FusionSite*> result;
  for (const Target& target : targets_of(fusion_, root)) result.push_back(target.site);
  return result;
}

Applicability QualityGate::can_mount(const FusionSite& site) const {
  if (!site.is_marked(fusion_)) return {"the site is not marked as a target"};
  return can_serve(site);
}

MountResult QualityGate::mount(Module& root) {
  const std::lock_guard lock(mutex_);
  const std::vector<Target> targets = targets_of(fusion_, root);
  MountResult result;
  for (const Target& target : targets)
    if (const Applicability answer = can_mount(*target.site); !answer)
      result.refusals.push_back({target.path, answer.reason});
  result.mounted = !targets.empty() && result.refusals.empty();
  if (!result.refusals.empty()) unmount_all(sites(root));
  for (const SiteRefusal& refusal : result.refusals) log_once(refusal);
  if (!result.mounted) return result;

  for (const Target& target : targets) {
    FusionSite::State& state = target.site->state(fusion_);
    if (state.mounted) continue;
    state.before = enter(*target.site);
    state.mounted = true;
  }
  return result;
}

void QualityGate::unmount(Module& root) {
  const std::lock_guard lock(mutex_);
  unmount_all(sites(root));
}

void QualityGate::unmount_all(const std::vector<FusionSite*>& targets) const {
  for (FusionSite* const site : targets) {
    FusionSite::State& state = site->state(fusion_);
    if (!state.mounted) continue;
    state.mounted = false;
    leave(*site, state.before);
  }
}

void QualityGate::log_once(const SiteRefusal& refusal) {
  const std::string line = refusal.site + " is not mounted: " + refusal.reason;
  if (logged_.insert(line).second) log_(line);
}

}  // namespace bitproof::kernels
