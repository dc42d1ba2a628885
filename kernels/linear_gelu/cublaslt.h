// cuBLASLt, loaded when first needed: the library is large, and most of what this project does runs without it.
#pragma once

#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>

#include <cublasLt.h>

namespace bitproof::kernels::cuda {

// The functions used, with the types of the toolkit's header.
struct CublasLt {
  decltype(&cublasLtCreate) create = nullptr;
  decltype(&cublasLtGetVersion) version = nullptr;
  decltype(&cublasLtGetStatusString) status_string = nullptr;
  decltype(&cublasLtMatmul) matmul = nullptr;
  decltype(&cublasLtMatmulDescCreate) matmul_desc_create = nullptr;
  decltype(&cublasLtMatmulDescDestroy) matmul_desc_destroy = nullptr;
  decltype(&cublasLtMatmulDescSetAttribute) matmul_desc_set = nullptr;
  decltype(&cublasLtMatrixLayoutCreate) layout_create = nullptr;
  decltype(&cublasLtMatrixLayoutDestroy) layout_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceCreate) preference_create = nullptr;
  decltype(&cublasLtMatmulPreferenceDestroy) preference_destroy = nullptr;
  decltype(&cublasLtMatmulPreferenceSetAttribute) preference_set = nullptr;
  decltype(&cublasLtMatmulAlgoGetHeuristic) get_heuristic = nullptr;
  decltype(&cublasLtMatmulAlgoConfigGetAttribute) algorithm_get = nullptr;

  std::string path;          // what was given to the loader
  std::string version_text;  // "13.1.1"
};

// The library, or why there is none, remedy included.
struct CublasLtLoad {
  std::optional<CublasLt> library;
  std::string reason;
};

// Loads from `path`, a file or a name that the loader searches for. Only major version 13 is accepted: it is
// what the predictions were measured on.
CublasLtLoad load_cublaslt(const std::string& path);

// Loaded once per process: from the file that the environment variable BITPROOF_CUBLASLT names, else from where
// the loader and the toolkit's default folder have it.
const CublasLtLoad& cublaslt();

// A call of cuBLASLt failed. what() names the call and the library's reason.
class CublasLtError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace bitproof::kernels::cuda
