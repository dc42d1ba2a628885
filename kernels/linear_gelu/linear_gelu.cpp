#include "kernels/linear_gelu/linear_gelu.h"

#include <cstdint>

#include "kernels/cuda/device.h"
#include "kernels/gelu_tanh.h"
#include "kernels/linear_gelu/cublaslt.h"
#include "kernels/tensor.h"

namespace bitproof::kernels::cuda {
namespace {

// The problem of a call whose tensors the guard accepts.
LinearProblem problem_of(LinearGeluPath path, const LinearLayer& layer, const DLTensor& x) {
  const std::int64_t columns = layer.weight->shape[0], depth = layer.weight->shape[1];
  return {.rows = element_count(x) / depth,
          .columns = columns,
          .depth = depth,
          .dtype = *half_type(x),
          .epilogue = path == LinearGeluPath::eager ? LinearEpilogue::bias : LinearEpilogue::gelu_bias};
}

bool same_shape(const LinearProblem& a, const LinearProblem& b) {
  return a.rows == b.rows && a.columns == b.columns && a.depth == b.depth && a.dtype == b.dtype;
}

// Plans belong to the device that is current when they are made.
LinearPlan plan_on(int device_id, const LinearProblem& problem) {
  const DeviceScope device(device_id);
  return LinearPlan(problem);
}

// The production kernel, or, where rows are too narrow for the architecture's vectors, the scalar one: the same
// bits.
void gelu_in_place(const DLTensor& tensor, CUstream_st* stream) {
  if (can_use_gelu_tanh(tensor, tensor)) {
    gelu_tanh(tensor, tensor, stream);
  } else {
    eager::gelu_tanh(tensor, tensor, stream);
  }
}

LinearProblem accepted_problem(LinearGeluPath path, const LinearLayer& layer, const DLTensor& x,
                               const DLTensor& output) {
  require(can_use_linear_gelu_tanh(layer, x, output));
  return problem_of(path, layer, x);
}

}  // namespace

Applicability can_use_linear_gelu_tanh(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  if (Applicability answer = can_compute_linear_gelu(layer, x, output); !answer) return answer;
  return {cublaslt().reason};
}

LinearGeluTanh::LinearGeluTanh(LinearGeluPath path, const LinearLayer& layer, const DLTensor& x,
                               const DLTensor& output)
    : path_(path),
      device_id_(x.device.device_id),
      plan_(plan_on(device_id_, accepted_problem(path, layer, x, output))) {}

void LinearGeluTanh::operator()(const LinearLayer& layer, const DLTensor& x, const DLTensor& output,
                                CUstream_st* stream) const {
  require(can_use_linear_gelu_tanh(layer, x, output));
  if (x.device.device_id != device_id_ || !same_shape(problem_of(path_, layer, x), plan_.problem()))
    throw Refused("the plan was made for another shape, dtype or device: x has shape " + shape_text(x));
  const DeviceScope device(device_id_);
  plan_.run(data_of(x), data_of(*layer.weight), data_of(*layer.bias), data_of(output), stream);
  if (path_ == LinearGeluPath::eager) gelu_in_place(output, stream);
}

}  // namespace bitproof::kernels::cuda
