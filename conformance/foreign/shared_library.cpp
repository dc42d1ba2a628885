#include <stdexcept>

#include <dlfcn.h>

#include "conformance/foreign/kernel_file.h"

namespace bitproof::conformance {

bitproof_kernel_function load_shared_library(const std::filesystem::path& path, const std::string& entry) {
  // Never closed: what it started may outlive the check.
  void* const library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(std::string("the library cannot be loaded: ") + dlerror());
  void* const symbol = dlsym(library, entry.c_str());
  if (symbol == nullptr)
    throw std::runtime_error("the library exports no " + entry +
                             "; export int bitproof_kernel(const bitproof_call*) with C linkage "
                             "(conformance/bitproof.h), or name it with --entry");
  return reinterpret_cast<bitproof_kernel_function>(symbol);
}

}  // namespace bitproof::conformance
