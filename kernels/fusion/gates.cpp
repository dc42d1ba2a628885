#include "kernels/fusion/gates.h"

#include <utility>

namespace bitproof::kernels {
namespace {

const Applicability kNoFirstLayer{"the site has no first linear layer"};

}  // namespace

LinearGeluGate::LinearGeluGate(LinearGeluGuard guard, Log log)
    : QualityGate(Fusion::linear_gelu, std::move(log)), guard_(std::move(guard)) {}

Applicability LinearGeluGate::can_serve(const FusionSite& site) const {
  const Linear* const first = site.first_linear();
  return first == nullptr ? kNoFirstLayer : first->with_description(guard_);
}

Nvfp4BiasGeluGate::Nvfp4BiasGeluGate(Log log) : QualityGate(Fusion::nvfp4_bias_gelu, std::move(log)) {}

Applicability Nvfp4BiasGeluGate::can_serve(const FusionSite& site) const {
  const Linear* const first = site.first_linear();
  if (first == nullptr) return kNoFirstLayer;
  if (!first->is_nvfp4()) return {"the first linear layer is not NVFP4"};
  if (!first->has_bias()) return {"the first linear layer has no bias"};
  return {};
}

bool Nvfp4BiasGeluGate::enter(FusionSite& site) const {
  return site.first_linear()->skip_bias_add.exchange(true);
}

void Nvfp4BiasGeluGate::leave(FusionSite& site, bool before) const {
  site.first_linear()->skip_bias_add = before;
}

}  // namespace bitproof::kernels
