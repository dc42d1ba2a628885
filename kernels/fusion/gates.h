// The two gates. They exclude each other by their reasons: a quantised first layer is refused by the first, any
// other by the second.
#pragma once

#include "kernels/fusion/quality_gate.h"
#include "kernels/mlp/linear.h"

namespace bitproof::kernels {

// The cuBLASLt epilogue, where the static part of its guard allows it.
class LinearGeluGate final : public QualityGate {
 public:
  explicit LinearGeluGate(LinearGeluGuard guard, Log log = log_to_standard_error);

 private:
  Applicability can_serve(const FusionSite& site) const override;

  LinearGeluGuard guard_;
};

// The bias of an NVFP4 layer, deferred to the fused bias + GELU kernel: mounting sets skip_bias_add on the
// site's first linear layer, unmounting restores it.
class Nvfp4BiasGeluGate final : public QualityGate {
 public:
  explicit Nvfp4BiasGeluGate(Log log = log_to_standard_error);

 private:
  Applicability can_serve(const FusionSite& site) const override;
  bool enter(FusionSite& site) const override;
  void leave(FusionSite& site, bool before) const override;
};

}  // namespace bitproof::kernels
