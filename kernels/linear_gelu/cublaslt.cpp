#include "kernels/linear_gelu/cublaslt.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <utility>

#include <dlfcn.h>

namespace bitproof::kernels::cuda {
namespace {

constexpr std::size_t kMajorVersion = 13;

constexpr std::array<std::string_view, 2> kDefaultPaths{"libcublasLt.so.13",
                                                        "/usr/local/cuda/lib64/libcublasLt.so.13"};

constexpr std::string_view kRemedy =
    "; install the CUDA 13 toolkit's cuBLAS (package libcublas-13-0), or set BITPROOF_CUBLASLT to the path of "
    "libcublasLt.so.13";

// The symbols of one library, converted to whatever pointer they are assigned to.
class Symbols {
 public:
  explicit Symbols(void* handle) : handle_(handle) {}

  struct Symbol {
    void* address;
    template <class Function>
    operator Function*() const {
      return reinterpret_cast<Function*>(address);
    }
  };

  Symbol operator[](const char* name) {
    void* const address = dlsym(handle_, name);
    if (address == nullptr && missing_.empty()) missing_ = name;
    return {address};
  }

  // The first one that was asked for in vain, or empty.
  const std::string& missing() const { return missing_; }

 private:
  void* handle_;
  std::string missing_;
};

std::string text_of_version(std::size_t version) {
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

CublasLtLoad load_default() {
  if (const char* chosen = std::getenv("BITPROOF_CUBLASLT")) return load_cublaslt(chosen);
  CublasLtLoad result;
  for (const std::string_view path : kDefaultPaths) {
    result = load_cublaslt(std::string(path));
    if (result.library) break;
  }
  return result;
}

}  // namespace

CublasLtLoad load_cublaslt(const std::string& path) {
  // Never closed: the library keeps state of the CUDA context for the life of the process.
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr)
    return {std::nullopt, "cuBLASLt cannot be loaded: " + std::string(dlerror()) + std::string(kRemedy)};

  Symbols symbols(handle);
  CublasLt library{
      .create = symbols["cublasLtCreate"],
      .version = symbols["cublasLtGetVersion"],
      .status_string = symbols["cublasLtGetStatusString"],
      .matmul = symbols["cublasLtMatmul"],
      .matmul_desc_create = symbols["cublasLtMatmulDescCreate"],
      .matmul_desc_destroy = symbols["cublasLtMatmulDescDestroy"],
      .matmul_desc_set = symbols["cublasLtMatmulDescSetAttribute"],
      .layout_create = symbols["cublasLtMatrixLayoutCreate"],
      .layout_destroy = symbols["cublasLtMatrixLayoutDestroy"],
      .preference_create = symbols["cublasLtMatmulPreferenceCreate"],
      .preference_destroy = symbols["cublasLtMatmulPreferenceDestroy"],
      .preference_set = symbols["cublasLtMatmulPreferenceSetAttribute"],
      .get_heuristic = symbols["cublasLtMatmulAlgoGetHeuristic"],
      .algorithm_get = symbols["cublasLtMatmulAlgoConfigGetAttribute"],
      .path = path,
      .version_text = "",
  };
  if (!symbols.missing().empty())
    return {std::nullopt,
            "cuBLASLt cannot be used: " + path + " has no " + symbols.missing() + std::string(kRemedy)};

  const std::size_t version = library.version();
  if (version / 10000 != kMajorVersion)
    return {std::nullopt, "cuBLASLt cannot be used: " + path + " is version " + text_of_version(version) +
                              ", and version 13 is needed" + std::string(kRemedy)};
  library.version_text = text_of_version(version);
  return {std::move(library), ""};
}

const CublasLtLoad& cublaslt() {
  static const CublasLtLoad kLoaded = load_default();
  return kLoaded;
}

}  // namespace bitproof::kernels::cuda
