#include "kernels/mlp/cuda_executor.h"

#include <array>
#include <cstddef>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cuda_runtime_api.h>

#include "kernels/cuda/device.h"
#include "kernels/gelu_tanh.h"
#include "kernels/linear_gelu/cublaslt.h"
#include "kernels/linear_gelu/dispatcher.h"
#include "kernels/linear_gelu/linear_plan.h"
#include "kernels/mlp/mlp_kernels.h"
#include "kernels/nvfp4/native.h"

namespace bitproof::kernels::cuda {
namespace {

constexpr std::size_t kAlignment = 256;

constexpr std::size_t aligned(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

std::shared_ptr<void> allocate(std::size_t bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "cudaMalloc");
  return {memory, [](void* address) { (void)cudaFree(address); }};
}

// Hands out aligned pieces of one allocation, in two passes: without memory it only counts.
class Pieces {
 public:
  explicit Pieces(void* memory = nullptr) : memory_(static_cast<char*>(memory)) {}

  template <class T>
  T* take(std::int64_t count) {
    T* const piece = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += aligned(static_cast<std::size_t>(count) * sizeof(T));
    return piece;
  }
  std::size_t used() const { return used_; }

 private:
  char* memory_;
  std::size_t used_ = 0;
};

// A quantised matrix and, for the dequantised GEMM, its operand.
struct Quantised {
  Nvfp4Matrix matrix;
  std::uint16_t* operand;
  std::uint32_t* largest;
  float* scale_and_zero;
};

Quantised place(Pieces& pieces, Nvfp4Gemm how, std::int64_t rows, std::int64_t depth) {
  const ScaleLayout layout = how == Nvfp4Gemm::native ? ScaleLayout::tiled_128x4 : ScaleLayout::row_major;
  Quantised q{};
  q.matrix = {.rows = rows,
              .depth = depth,
              .values = pieces.take<std::uint8_t>(rows * depth / 2),
              .scales = pieces.take<std::uint8_t>(scale_bytes(layout, rows, depth / kNvfp4Block)),
              .layout = layout,
              .tensor_scale = pieces.take<float>(1)};
  q.operand = how == Nvfp4Gemm::native ? nullptr : pieces.take<std::uint16_t>(rows * depth);
  q.largest = pieces.take<std::uint32_t>(1);
  q.scale_and_zero = pieces.take<float>(2);
  return q;
}

std::size_t bytes_of(Nvfp4Gemm how, std::int64_t rows, std::int64_t depth) {
  Pieces counting;
  (void)place(counting, how, rows, depth);
  return counting.used();
}

using PlanKey =
    std::tuple<std::int64_t, std::int64_t, std::int64_t, HalfType, LinearEpilogue, LinearOperands, bool>;

PlanKey key_of(const LinearProblem& p) {
  return {p.rows, p.columns, p.depth, p.dtype, p.epilogue, p.operands, p.scaled};
}

LinearProblem problem_of(const DLTensor& x, const DLTensor& output, LinearEpilogue epilogue) {
  const RowsByWidth in = rows_by_width(x);
  return {.rows = in.rows,
          .columns = rows_by_width(output).width,
          .depth = in.width,
          .dtype = *half_type(x),
          .epilogue = epilogue};
}

int capability_of(int device_id) {
  int major = 0, minor = 0;
  check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device_id), "cudaDeviceGetAttribute");
  check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device_id), "cudaDeviceGetAttribute");
  return 10 * major + minor;
}

void copy_to_device(void* to, const void* from, std::size_t bytes, cudaStream_t stream) {
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream), "cudaMemcpyAsync");
}

}  // namespace

Applicability can_multiply_nvfp4(Nvfp4Gemm how, int compute_capability) {
  if (how == Nvfp4Gemm::dequantised || has_native_nvfp4(traits_for(compute_capability))) return {};
  return {"the native NVFP4 GEMM needs compute capability 10.0 or later; this device has " +
          std::to_string(compute_capability / 10) + "." + std::to_string(compute_capability % 10)};
}

struct CudaExecutor::State {
  int device_id;
  cudaStream_t stream;
  CudaExecutorOptions options;
  int compute_capability;
  std::map<PlanKey, LinearPlan> plans;

  struct Memory {
    std::shared_ptr<void> pointer;
    std::size_t bytes = 0;
  };
  std::array<Memory, 2> scratch;
  Memory activation;  // quantised
  Memory difference;

  bool is_capturing() const {
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
    return status != cudaStreamCaptureStatusNone;
  }

  void require_no_capture(const char* what) const {
    if (is_capturing())
      throw Refused(std::string(what) +
                    " cannot be made while a graph is captured; run the same shapes once before capturing");
  }

  void* reserve(Memory& memory, std::size_t bytes) const {
    if (memory.bytes < bytes) {
      require_no_capture("scratch memory");
      memory = {};
      memory = {allocate(bytes), bytes};
    }
    return memory.pointer.get();
  }

  const LinearPlan& plan(const LinearProblem& problem) {
    const auto found = plans.find(key_of(problem));
    if (found != plans.end()) return found->second;
    require_no_capture("a cuBLASLt plan");
    return plans.emplace(key_of(problem), LinearPlan(problem)).first->second;
  }

  void quantise(const Matrix& input, const Quantised& q) const {
    if (q.matrix.layout == ScaleLayout::tiled_128x4)
      check(cudaMemsetAsync(q.matrix.scales, 0,
                            static_cast<std::size_t>(
                                scale_bytes(q.matrix.layout, q.matrix.rows, q.matrix.blocks_per_row())),
                            stream),
            "cudaMemsetAsync");
    quantise_nvfp4(input, q.matrix, q.largest, stream);
  }

  Matrix operand(const Quantised& q, HalfType dtype) const {
    return {q.operand, dtype, {kDLCUDA, device_id}, q.matrix.rows, q.matrix.depth};
  }

  // A weight whose codes `write` writes.
  template <class Write>
  Nvfp4Weight make_weight(HalfType dtype, std::int64_t rows, std::int64_t depth, Write&& write) const {
    const DeviceScope scope(device_id);
    Nvfp4Weight weight{{}, {kDLCUDA, device_id}, {}, allocate(bytes_of(options.nvfp4, rows, depth))};
    Pieces pieces(weight.memory.get());
    const Quantised q = place(pieces, options.nvfp4, rows, depth);
    weight.matrix = q.matrix;
    write(q);
    if (options.nvfp4 == Nvfp4Gemm::dequantised) {
      weight.operand = operand(q, dtype);
      dequantise_nvfp4(q.matrix, *weight.operand, stream);
    }
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
    return weight;
  }
};

CudaExecutor::CudaExecutor(int device_id, CUstream_st* stream, std::shared_ptr<FirstSight> sights,
                           CudaExecutorOptions options)
    : Executor(std::move(sights)),
      state_(new State{device_id, stream, std::move(options), capability_of(device_id), {}, {}, {}, {}}) {
  if (!cublaslt().library) throw Refused(cublaslt().reason);
  require(can_multiply_nvfp4(state_->options.nvfp4, state_->compute_capability));
}

CudaExecutor::~CudaExecutor() = default;

int CudaExecutor::compute_capability() const { return state_->compute_capability; }

bool CudaExecutor::is_capturing() const { return state_->is_capturing(); }

Matrix CudaExecutor::scratch(Scratch purpose, HalfType dtype, std::int64_t rows, std::int64_t width) {
  const DeviceScope scope(state_->device_id);
  void* const memory = state_->reserve(state_->scratch[static_cast<std::size_t>(purpose)],
                                       static_cast<std::size_t>(rows * width) * sizeof(std::uint16_t));
  return {memory, dtype, {kDLCUDA, state_->device_id}, rows, width};
}

void CudaExecutor::linear(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  LinearLayer without = layer;
  if (layer.bias_deferred) without = {.weight = layer.weight, .weight_quantised = layer.weight_quantised};
  require(can_compute_linear(without, x, output));
  const DeviceScope scope(state_->device_id);
  const void* const bias = without.bias == nullptr ? nullptr : data_of(*without.bias);
  const LinearPlan& plan =
      state_->plan(problem_of(x, output, bias == nullptr ? LinearEpilogue::none : LinearEpilogue::bias));
  plan.run(data_of(x), data_of(*layer.weight), bias, data_of(output), state_->stream);
}

void CudaExecutor::linear_nvfp4(const DLTensor& x, const Nvfp4Weight& weight, const DLTensor& output) {
  require(can_quantise_nvfp4(x));
  const Nvfp4Gemm how = state_->options.nvfp4;
  if (weight.operand.has_value() != (how == Nvfp4Gemm::dequantised))
    throw Refused("the weight was made for the other way of multiplying NVFP4");
  if (weight.operand && weight.operand->dtype() != *half_type(x))
    throw Refused("the weight was made for the other dtype");
  // The codes stand for a weight of x's dtype; what a GEMM asks of its tensors is the same.
  const RowsByWidth in = rows_by_width(x);
  const Matrix stand_in(weight.matrix.values, *half_type(x), weight.device, weight.matrix.rows,
                        weight.matrix.depth);
  const DLTensor weight_tensor = stand_in.tensor();
  require(can_compute_linear({.weight = &weight_tensor}, x, output));

  const DeviceScope scope(state_->device_id);
  Pieces pieces(state_->reserve(state_->activation, bytes_of(how, in.rows, in.width)));
  const Quantised q = place(pieces, how, in.rows, in.width);
  state_->quantise(Matrix(x), q);
  multiply_scales(q.matrix.tensor_scale, weight.matrix.tensor_scale, q.scale_and_zero, state_->stream);

  LinearProblem problem = problem_of(x, output, LinearEpilogue::none);
  problem.scaled = true;
  if (how == Nvfp4Gemm::native) {
    problem.operands = LinearOperands::nvfp4;
    state_->plan(problem).run_scaled(Nvfp4Operand{q.matrix.values, q.matrix.scales},
                                     Nvfp4Operand{weight.matrix.values, weight.matrix.scales}, q.scale_and_zero,
                                     data_of(output), state_->stream);
  } else {
    dequantise_nvfp4(q.matrix, state_->operand(q, *half_type(x)), state_->stream);
    state_->plan(problem).run_scaled(q.operand, weight.operand->data(), q.scale_and_zero, data_of(output),
                                     state_->stream);
  }
}

Applicability CudaExecutor::can_fuse_linear_gelu(const LinearLayer& layer) const {
  return can_use_fused_linear_gelu_layer(layer, state_->compute_capability, state_->options.table);
}

Applicability CudaExecutor::can_use_linear_gelu(const LinearLayer& layer, const DLTensor& x,
                                                const DLTensor& output) const {
  const DispatchTable& table = state_->options.table;
  if (Applicability answer = can_use_fused_linear_gelu(layer, x, output, state_->compute_capability, table);
      !answer)
    return answer;
  if (state_->options.epilogue == EpilogueUse::always) return {};
  const LinearGeluChoice choice =
      choose_linear_gelu_path(Quality::high, layer, x, output, state_->compute_capability, table);
  return {choice.path == LinearGeluPath::cublaslt ? "" : choice.reason};
}

void CudaExecutor::linear_gelu(const LinearLayer& layer, const DLTensor& x, const DLTensor& output) {
  require(can_compute_linear_gelu(layer, x, output));
  const DeviceScope scope(state_->device_id);
  state_->plan(problem_of(x, output, LinearEpilogue::gelu_bias))
      .run(data_of(x), data_of(*layer.weight), data_of(*layer.bias), data_of(output), state_->stream);
}

void CudaExecutor::add_bias(const DLTensor& tensor, const DLTensor& bias) {
  require(can_use_on_device(tensor, &bias, tensor, 16));
  const DeviceScope scope(state_->device_id);
  cuda::add_bias(Matrix(tensor), data_of(bias), state_->stream);
}

// The production kernel, or, where rows are too narrow for the architecture's vectors, the scalar one: the same
// bits.
void CudaExecutor::gelu(const DLTensor& tensor) {
  if (can_use_gelu_tanh(tensor, tensor)) {
    gelu_tanh(tensor, tensor, state_->stream);
  } else {
    eager::gelu_tanh(tensor, tensor, state_->stream);
  }
}

Applicability CudaExecutor::can_use_bias_gelu(const DLTensor& input, const DLTensor& bias,
                                              const DLTensor& output) const {
  return can_use_bias_gelu_tanh(input, bias, output);
}

void CudaExecutor::bias_gelu(const DLTensor& input, const DLTensor& bias, const DLTensor& output) {
  bias_gelu_tanh(input, bias, output, state_->stream);
}

void CudaExecutor::copy(const DLTensor& from, const DLTensor& to) {
  const DeviceScope scope(state_->device_id);
  check(cudaMemcpyAsync(data_of(to), data_of(from), static_cast<std::size_t>(element_count(from)) * 2,
                        cudaMemcpyDeviceToDevice, state_->stream),
        "cudaMemcpyAsync");
}

std::optional<BitDifference> CudaExecutor::first_difference(const DLTensor& eager, const DLTensor& fused) {
  const DeviceScope scope(state_->device_id);
  const cudaStream_t stream = state_->stream;
  constexpr auto kNone = std::numeric_limits<unsigned long long>::max();
  auto* const first =
      static_cast<unsigned long long*>(state_->reserve(state_->difference, sizeof(unsigned long long)));
  check(cudaMemsetAsync(first, 0xFF, sizeof *first, stream), "cudaMemsetAsync");
  find_first_difference(data_of(eager), data_of(fused), element_count(eager), first, stream);
  unsigned long long index = kNone;
  const auto fetch = [stream](void* to, const void* from, std::size_t bytes) {
    check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  };
  fetch(&index, first, sizeof index);
  if (index == kNone) return std::nullopt;
  BitDifference difference{.index = static_cast<std::int64_t>(index)};
  fetch(&difference.eager, data_of(eager) + index, sizeof difference.eager);
  fetch(&difference.fused, data_of(fused) + index, sizeof difference.fused);
  return difference;
}

Nvfp4Weight CudaExecutor::quantise_weight(const DLTensor& weight) {
  require(can_quantise_nvfp4(weight));
  const Matrix dense(weight);
  return state_->make_weight(dense.dtype(), dense.rows(), dense.width(),
                             [&](const Quantised& q) { state_->quantise(dense, q); });
}

Nvfp4Weight CudaExecutor::load_weight(const Nvfp4Codes& codes, HalfType dtype) {
  require(can_use_nvfp4(codes));
  return state_->make_weight(dtype, codes.rows, codes.depth, [&](const Quantised& q) {
    const cudaStream_t stream = state_->stream;
    std::vector<std::uint8_t> scales(
        static_cast<std::size_t>(scale_bytes(q.matrix.layout, codes.rows, q.matrix.blocks_per_row())));
    const std::int64_t blocks = q.matrix.blocks_per_row();
    for (std::int64_t i = 0; i < codes.rows * blocks; ++i)
      scales[static_cast<std::size_t>(scale_offset(q.matrix.layout, i / blocks, i % blocks, blocks))] =
          codes.scales[static_cast<std::size_t>(i)];
    copy_to_device(q.matrix.values, codes.values.data(), codes.values.size(), stream);
    copy_to_device(q.matrix.scales, scales.data(), scales.size(), stream);
    copy_to_device(q.matrix.tensor_scale, &codes.tensor_scale, sizeof codes.tensor_scale, stream);
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  });
}

}  // namespace bitproof::kernels::cuda
