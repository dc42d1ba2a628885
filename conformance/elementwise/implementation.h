// The implementations of elementwise operators: who computes them, where, and by which call.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "conformance/elementwise/domains.h"
#include "conformance/elementwise/placement.h"
#include "kernels/elementwise_guard.h"

struct CUstream_st;

namespace bitproof::conformance {

struct ElementwiseImplementation {
  std::string name;  // "host.fused"
  Location location;
  std::uint32_t vector_elements;  // of one access, for the lane of a counterexample

  // May these tensors be served? `run` must then serve them, or throw kernels::Refused with the same reason.
  // Empty: what it does not serve, only `run` says.
  std::function<kernels::Applicability(const Tensors&)> can_use;
  // Computes output from input (and bias, if the tensors have one); on a device asynchronously on the stream.
  std::function<void(const Tensors&, CUstream_st*)> run;
  // Whether `run` may be called by several threads at once.
  bool concurrent = true;
};

// Those of the CPU: always there.
std::vector<ElementwiseImplementation> host_implementations();

// Those of the GPU: empty in a build without CUDA.
std::vector<ElementwiseImplementation> device_implementations();

}  // namespace bitproof::conformance
