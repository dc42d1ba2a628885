#include "conformance/c_api/production_cuda.h"
#include "kernels/elementwise_guard.h"

namespace bitproof::conformance::c_api {
namespace {

[[noreturn]] void refuse() { throw kernels::Refused("this build of bitproof has no CUDA kernels"); }

}  // namespace

void gelu_tanh_on_gpu(const DLTensor&, const DLTensor&, CUstream_st*) { refuse(); }
void bias_gelu_tanh_on_gpu(const DLTensor&, const DLTensor&, const DLTensor&, CUstream_st*) { refuse(); }
void linear_gelu_tanh_on_gpu(const DLTensor&, const DLTensor&, const DLTensor&, const DLTensor&, CUstream_st*) {
  refuse();
}

}  // namespace bitproof::conformance::c_api
