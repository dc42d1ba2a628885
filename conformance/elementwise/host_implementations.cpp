#include "conformance/elementwise/implementation.h"
#include "kernels/gelu_tanh.h"

namespace bitproof::conformance {

std::vector<ElementwiseImplementation> host_implementations() {
  namespace host = kernels::host;
  return {{
      .name = "host.fused",
      .location = Location::host,
      .vector_elements = 8,
      .can_use =
          [](const Tensors& t) {
            return t.has_bias ? host::can_use_bias_gelu_tanh(t.input, t.bias, t.output)
                              : host::can_use_gelu_tanh(t.input, t.output);
          },
      .run =
          [](const Tensors& t, CUstream_st*) {
            t.has_bias ? host::bias_gelu_tanh(t.input, t.bias, t.output) : host::gelu_tanh(t.input, t.output);
          },
  }};
}

}  // namespace bitproof::conformance
