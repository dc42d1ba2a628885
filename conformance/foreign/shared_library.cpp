#include <stdexcept>

#include <dlfcn.h>

#include "conformance/foreign/callback.h"
#include "conformance/foreign/kernel_file.h"

namespace bitproof::conformance {

ElementwiseImplementation load_shared_library(const std::filesystem::path& path, const std::string& entry,
                                              std::string name, Location location,
                                              const ForeignRequest& request) {
  // Never closed: what it started may outlive the check.
  void* const library = dlopen(std::filesystem::absolute(path).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(std::string("the library cannot be loaded: ") + dlerror());
  void* const symbol = dlsym(library, entry.c_str());
  if (symbol == nullptr)
    throw std::runtime_error("the library exports no " + entry +
                             "; export int bitproof_kernel(const bitproof_call*) with C linkage "
                             "(conformance/bitproof.h), or name it with --entry");
  const Callback callback{.kernel = reinterpret_cast<bitproof_kernel_function>(symbol)};
  return callback_implementation(std::move(name), location, request, callback);
}

}  // namespace bitproof::conformance
