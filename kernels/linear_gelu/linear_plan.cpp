#include "kernels/linear_gelu/linear_plan.h"

#include <map>
#include <mutex>
#include <type_traits>
#include <utility>

#include "kernels/cuda/device.h"
#include "kernels/elementwise_guard.h"
#include "kernels/linear_gelu/cublaslt.h"

namespace bitproof::kernels::cuda {
namespace {

// What the library's documentation recommends for Hopper.
constexpr std::uint64_t kLargestWorkspace = 32u << 20;

// What the guard promises of every pointer and every row.
constexpr std::uint32_t kAlignmentBytes = 16;

// How many candidates to look through for one that meets the split policy.
constexpr int kCandidates = 16;

const CublasLt& library() {
  const CublasLtLoad& load = cublaslt();
  if (!load.library) throw Refused(load.reason);
  return *load.library;
}

void check(cublasStatus_t status, const char* call) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw CublasLtError(std::string(call) + ": " + library().status_string(status));
}

template <class Handle>
using Owned = std::unique_ptr<std::remove_pointer_t<Handle>, cublasStatus_t (*)(Handle)>;

template <class Handle, class Create>
Owned<Handle> owned(Create create, cublasStatus_t (*destroy)(Handle), const char* call) {
  Handle handle = nullptr;
  check(create(&handle), call);
  return Owned<Handle>(handle, destroy);
}

// One handle per device, for the life of the process: the library's documentation says that making one may
// synchronise the device, and that threads may share it.
cublasLtHandle_t handle_of_current_device() {
  static std::mutex mutex;
  static std::map<int, cublasLtHandle_t> handles;
  int device = 0;
  cuda::check(cudaGetDevice(&device), "cudaGetDevice");
  const std::lock_guard lock(mutex);
  cublasLtHandle_t& handle = handles[device];
  if (handle == nullptr) check(library().create(&handle), "cublasLtCreate");
  return handle;
}

Owned<cublasLtMatrixLayout_t> column_major(cudaDataType type, std::int64_t rows, std::int64_t columns) {
  const auto create = [&](cublasLtMatrixLayout_t* layout) {
    return library().layout_create(layout, type, static_cast<std::uint64_t>(rows),
                                   static_cast<std::uint64_t>(columns), rows);
  };
  return owned<cublasLtMatrixLayout_t>(create, library().layout_destroy, "cublasLtMatrixLayoutCreate");
}

template <class Value>
void set(cublasLtMatmulDesc_t description, cublasLtMatmulDescAttributes_t attribute, const Value& value) {
  check(library().matmul_desc_set(description, attribute, &value, sizeof value),
        "cublasLtMatmulDescSetAttribute");
}

template <class Value>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         const Value& value) {
  check(library().preference_set(preference, attribute, &value, sizeof value),
        "cublasLtMatmulPreferenceSetAttribute");
}

template <class Value>
Value get(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  Value value{};
  std::size_t written = 0;
  check(library().algorithm_get(&algorithm, attribute, &value, sizeof value, &written),
        "cublasLtMatmulAlgoConfigGetAttribute");
  return value;
}

CublasLtAlgorithm attributes_of(const cublasLtMatmulHeuristicResult_t& candidate) {
  const cublasLtMatmulAlgo_t& algorithm = candidate.algo;
  return {.id = get<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID),
          .tile = get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID),
          .stages = get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID),
          .splits = get<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
          .reduction_scheme = get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
          .swizzle = get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
          .custom_option = get<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
          .inner_shape = get<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
          .cluster_shape = get<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID),
          .workspace_bytes = candidate.workspaceSize};
}

bool meets(SplitPolicy policy, const CublasLtAlgorithm& algorithm) {
  return policy == SplitPolicy::library_default ||
         (algorithm.splits == 1 && algorithm.reduction_scheme == CUBLASLT_REDUCTION_SCHEME_NONE);
}

cublasLtEpilogue_t epilogue_of(LinearEpilogue epilogue) {
  switch (epilogue) {
    case LinearEpilogue::none:
      return CUBLASLT_EPILOGUE_DEFAULT;
    case LinearEpilogue::bias:
      return CUBLASLT_EPILOGUE_BIAS;
    case LinearEpilogue::gelu:
      return CUBLASLT_EPILOGUE_GELU;
    case LinearEpilogue::gelu_bias:
      return CUBLASLT_EPILOGUE_GELU_BIAS;
  }
  return CUBLASLT_EPILOGUE_DEFAULT;
}

bool has_bias(LinearEpilogue epilogue) {
  return epilogue == LinearEpilogue::bias || epilogue == LinearEpilogue::gelu_bias;
}

Owned<cublasLtMatmulPreference_t> preference_for(SplitPolicy policy) {
  auto preference = owned<cublasLtMatmulPreference_t>(library().preference_create, library().preference_destroy,
                                                      "cublasLtMatmulPreferenceCreate");
  set(preference.get(), CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kLargestWorkspace);
  for (const auto attribute :
       {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
        CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
    set(preference.get(), attribute, kAlignmentBytes);
  if (policy == SplitPolicy::one_split) {
    const std::uint32_t no_reduction = CUBLASLT_REDUCTION_SCHEME_NONE;
    set(preference.get(), CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, no_reduction);
  }
  return preference;
}

std::string text_of(const LinearProblem& problem) {
  return "[" + std::to_string(problem.rows) + ", " + std::to_string(problem.depth) + "] x [" +
         std::to_string(problem.columns) + ", " + std::to_string(problem.depth) + "]^T";
}

}  // namespace

std::string plan_rule_text(LinearEpilogue epilogue) {
  return "weight transposed, FP32 accumulation, alpha 1, beta 0, epilogue " +
         std::to_string(static_cast<int>(epilogue_of(epilogue))) + ", first of " + std::to_string(kCandidates) +
         " candidates with one split and no reduction, workspace at most " + std::to_string(kLargestWorkspace) +
         " bytes, alignment " + std::to_string(kAlignmentBytes) + " bytes";
}

// cuBLASLt thinks in columns: the row-major output [rows, columns] is its D [columns, rows] = weight^T' * x',
// where the row-major weight [columns, depth] is its A [depth, columns], transposed, and x [rows, depth] its B
// [depth, rows].
struct LinearPlan::Descriptors {
  explicit Descriptors(const LinearProblem& problem)
      : handle(handle_of_current_device()),
        operation(owned<cublasLtMatmulDesc_t>(
            [](cublasLtMatmulDesc_t* description) {
              return library().matmul_desc_create(description, CUBLAS_COMPUTE_32F, CUDA_R_32F);
            },
            library().matmul_desc_destroy, "cublasLtMatmulDescCreate")),
        weight(column_major(input_type(problem), problem.depth, problem.columns)),
        x(column_major(input_type(problem), problem.depth, problem.rows)),
        output(column_major(output_type(problem), problem.columns, problem.rows)) {
    set(operation.get(), CUBLASLT_MATMUL_DESC_TRANSA, CUBLAS_OP_T);
    set(operation.get(), CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(problem.epilogue));
    if (has_bias(problem.epilogue))
      set(operation.get(), CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE,
          static_cast<std::int32_t>(output_type(problem)));
    if (problem.scaled)
      set(operation.get(), CUBLASLT_MATMUL_DESC_POINTER_MODE,
          static_cast<std::int32_t>(CUBLASLT_POINTER_MODE_DEVICE));
    if (problem.operands == LinearOperands::nvfp4) {
      const std::int32_t scales = CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3;
      set(operation.get(), CUBLASLT_MATMUL_DESC_A_SCALE_MODE, scales);
      set(operation.get(), CUBLASLT_MATMUL_DESC_B_SCALE_MODE, scales);
    }
  }

  ~Descriptors() { (void)cudaFree(workspace); }
  Descriptors(const Descriptors&) = delete;
  Descriptors& operator=(const Descriptors&) = delete;

  static cudaDataType input_type(const LinearProblem& problem) {
    return problem.operands == LinearOperands::nvfp4 ? CUDA_R_4F_E2M1 : half_type(problem);
  }
  static cudaDataType half_type(const LinearProblem& problem) {
    return problem.dtype == HalfType::bf16 ? CUDA_R_16BF : CUDA_R_16F;
  }
  static cudaDataType output_type(const LinearProblem& problem) {
    return problem.fp32_output ? CUDA_R_32F : half_type(problem);
  }

  cublasLtHandle_t handle;
  Owned<cublasLtMatmulDesc_t> operation;
  Owned<cublasLtMatrixLayout_t> weight, x, output;
  cublasLtMatmulAlgo_t algorithm{};
  void* workspace = nullptr;
};

std::string describe(const CublasLtAlgorithm& algorithm) {
  return "id " + std::to_string(algorithm.id) + ", tile " + std::to_string(algorithm.tile) + ", stages " +
         std::to_string(algorithm.stages) + ", splits " + std::to_string(algorithm.splits) + ", reduction " +
         std::to_string(algorithm.reduction_scheme) + ", swizzle " + std::to_string(algorithm.swizzle) +
         ", custom " + std::to_string(algorithm.custom_option) + ", inner shape " +
         std::to_string(algorithm.inner_shape) + ", cluster " + std::to_string(algorithm.cluster_shape) +
         ", workspace " + std::to_string(algorithm.workspace_bytes) + " bytes";
}

LinearPlan::LinearPlan(const LinearProblem& problem)
    : problem_(problem), descriptors_(std::make_unique<Descriptors>(problem)) {
  const Owned<cublasLtMatmulPreference_t> preference = preference_for(problem.splits);
  std::array<cublasLtMatmulHeuristicResult_t, kCandidates> candidates{};
  int count = 0;
  Descriptors& d = *descriptors_;
  const cublasStatus_t status =
      library().get_heuristic(d.handle, d.operation.get(), d.weight.get(), d.x.get(), d.output.get(),
                              d.output.get(), preference.get(), kCandidates, candidates.data(), &count);
  if (status != CUBLAS_STATUS_NOT_SUPPORTED) check(status, "cublasLtMatmulAlgoGetHeuristic");

  for (int i = 0; i < count; ++i) {
    const cublasLtMatmulHeuristicResult_t& candidate = candidates[static_cast<std::size_t>(i)];
    if (candidate.state != CUBLAS_STATUS_SUCCESS) continue;
    algorithm_ = attributes_of(candidate);
    if (!meets(problem.splits, algorithm_)) continue;
    d.algorithm = candidate.algo;
    if (algorithm_.workspace_bytes > 0)
      check(cudaMalloc(&d.workspace, algorithm_.workspace_bytes), "cudaMalloc of cuBLASLt's workspace");
    return;
  }
  throw Refused("cuBLASLt has no algorithm " +
                std::string(problem.splits == SplitPolicy::one_split ? "with one split " : "") + "for " +
                text_of(problem));
}

LinearPlan::~LinearPlan() = default;
LinearPlan::LinearPlan(LinearPlan&&) noexcept = default;
LinearPlan& LinearPlan::operator=(LinearPlan&&) noexcept = default;

void LinearPlan::run(const void* x, const void* weight, const void* bias, void* output,
                     cudaStream_t stream) const {
  if (has_bias(problem_.epilogue)) set(descriptors_->operation.get(), CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias);
  const float one = 1.0f, zero = 0.0f;
  multiply(x, weight, &one, &zero, output, stream);
}

void LinearPlan::run_scaled(const void* x, const void* weight, const float* scale_and_zero, void* output,
                            cudaStream_t stream) const {
  multiply(x, weight, scale_and_zero, scale_and_zero + 1, output, stream);
}

void LinearPlan::run_scaled(const Nvfp4Operand& x, const Nvfp4Operand& weight, const float* scale_and_zero,
                            void* output, cudaStream_t stream) const {
  set(descriptors_->operation.get(), CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, weight.scales);
  set(descriptors_->operation.get(), CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, x.scales);
  run_scaled(x.values, weight.values, scale_and_zero, output, stream);
}

void LinearPlan::multiply(const void* x, const void* weight, const float* alpha, const float* beta,
                          void* output, cudaStream_t stream) const {
  const Descriptors& d = *descriptors_;
  check(library().matmul(d.handle, d.operation.get(), alpha, weight, d.weight.get(), x, d.x.get(), beta, output,
                         d.output.get(), output, d.output.get(), &d.algorithm, d.workspace,
                         algorithm_.workspace_bytes, stream),
        "cublasLtMatmul");
}

}  // namespace bitproof::kernels::cuda
