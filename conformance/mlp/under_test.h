// An MLP of a configuration in a place, with its site, gates and requests.
#pragma once

#include <cstdint>
#include <memory>

#include "conformance/mlp/configuration.h"
#include "conformance/mlp/operands.h"
#include "conformance/mlp/place.h"
#include "kernels/fusion/gates.h"
#include "kernels/fusion/requests.h"
#include "kernels/mlp/mlp.h"

namespace bitproof::conformance {

template <reference::Half T>
class MlpUnderTest {
 public:
  // Copies the operands to the place, which outlives this; an NVFP4 weight is quantised there.
  MlpUnderTest(MlpConfiguration configuration, const MlpOperands<T>& operands, MlpPlace& place);

  // One run in a state, from a poisoned output. Every call starts from an unmounted site and from kernels that
  // no first sight has verified. Throws std::runtime_error when mounting, or the first sight, is not as the
  // configuration needs it: then nothing would be tested.
  MlpOutput run(MlpState state);

  // As above without memory or checks of its own: a run of `quality` with an executor, for timing. The caller
  // holds the request.
  kernels::Request begin(kernels::Quality quality) { return requests_.begin(quality); }
  void run(const kernels::Matrix& output, kernels::Quality quality, kernels::Executor& executor) const;

 private:
  // Throws unless the gate of the configuration, and no other, has mounted the site.
  void require_mounted(const kernels::Request& request) const;

  MlpConfiguration configuration_;
  MlpShape shape_;
  MlpPlace& place_;
  kernels::Matrix x_;
  std::unique_ptr<kernels::Linear> first_, second_;
  kernels::Mlp mlp_;
  kernels::LinearGeluGate epilogue_;
  kernels::Nvfp4BiasGeluGate deferral_;
  kernels::FusionRequests requests_;
};

}  // namespace bitproof::conformance
