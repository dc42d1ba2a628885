#include "conformance/foreign/nvrtc.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <optional>
#include <variant>

#include <dlfcn.h>
#include <fmt/format.h>

#include "conformance/isolation/worker_process.h"
#include "conformance/report/base64.h"
#include "conformance/report/text_file.h"

namespace bitproof::conformance {
namespace {

// What we use of nvrtc.h, which toolkits made of wheels do not have (NVRTC's documentation, "User Interface").
struct Program;
constexpr int kSuccess = 0;

struct Nvrtc {
  int (*create)(Program**, const char* source, const char* name, int, const char* const*, const char* const*);
  int (*destroy)(Program**);
  int (*add_name)(Program*, const char*);
  int (*compile)(Program*, int count, const char* const* options);
  int (*log_size)(Program*, std::size_t*);
  int (*log)(Program*, char*);
  int (*cubin_size)(Program*, std::size_t*);
  int (*cubin)(Program*, char*);
  int (*lowered_name)(Program*, const char*, const char**);
  std::filesystem::path headers;  // the toolkit's, where they could be found
};

constexpr std::array<const char*, 4> kLibraries{"libnvrtc.so.13", "/usr/local/cuda/lib64/libnvrtc.so.13",
                                                "libnvrtc.so.12", "libnvrtc.so"};
constexpr const char* kRemedy =
    "install CUDA's run-time compiler (package cuda-nvrtc-13-0 or wheel nvidia-cuda-nvrtc), or set "
    "BITPROOF_NVRTC to the path of libnvrtc.so; or compile the kernel with nvcc --cubin and check the .cubin";

// Beside the library in a toolkit and in wheels, else where toolkits are installed.
std::filesystem::path find_headers(void* symbol) {
  Dl_info info{};
  std::vector<std::filesystem::path> candidates;
  if (const char* home = std::getenv("CUDA_HOME"))
    candidates.push_back(std::filesystem::path(home) / "include");
  if (dladdr(symbol, &info) != 0 && info.dli_fname != nullptr) {
    std::error_code error;
    const std::filesystem::path library = std::filesystem::canonical(info.dli_fname, error).parent_path();
    for (const char* relative : {"../include", "../../../include"}) candidates.push_back(library / relative);
  }
  candidates.emplace_back("/usr/local/cuda/include");
  for (const std::filesystem::path& candidate : candidates)
    if (std::filesystem::exists(candidate / "cuda_fp16.h")) return candidate;
  return {};
}

std::variant<Nvrtc, std::string> load_nvrtc() {
  void* handle = nullptr;
  std::string reason;
  std::vector<const char*> names(kLibraries.begin(), kLibraries.end());
  if (const char* chosen = std::getenv("BITPROOF_NVRTC")) names = {chosen};
  for (const char* name : names) {
    handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (handle != nullptr) break;
    if (reason.empty()) reason = dlerror();
  }
  if (handle == nullptr) return reason;
  Nvrtc library{};
  bool complete = true;
  const auto find = [&]<class Function>(Function*& function, const char* name) {
    function = reinterpret_cast<Function*>(dlsym(handle, name));
    complete &= function != nullptr;
  };
  find(library.create, "nvrtcCreateProgram");
  find(library.destroy, "nvrtcDestroyProgram");
  find(library.add_name, "nvrtcAddNameExpression");
  find(library.compile, "nvrtcCompileProgram");
  find(library.log_size, "nvrtcGetProgramLogSize");
  find(library.log, "nvrtcGetProgramLog");
  find(library.cubin_size, "nvrtcGetCUBINSize");
  find(library.cubin, "nvrtcGetCUBIN");
  find(library.lowered_name, "nvrtcGetLoweredName");
  if (!complete) return std::string("the library lacks a function of NVRTC 11.1");
  library.headers = find_headers(reinterpret_cast<void*>(library.create));
  return library;
}

struct Destroy {
  const Nvrtc* library;
  void operator()(Program* program) const { (void)library->destroy(&program); }
};
using OwnedProgram = std::unique_ptr<Program, Destroy>;

std::string text_of(Program* program, int (*size)(Program*, std::size_t*), int (*get)(Program*, char*)) {
  std::size_t bytes = 0;
  if (size(program, &bytes) != kSuccess) return "";
  std::string text(bytes, '\0');
  return get(program, text.data()) == kSuccess ? text : "";
}

std::string encoded(const std::string& text) {
  return to_base64({reinterpret_cast<const std::uint8_t*>(text.data()), text.size()});
}

std::string decoded(const std::string& base64) {
  const std::vector<std::uint8_t> bytes = from_base64(base64).value_or(std::vector<std::uint8_t>{});
  return {bytes.begin(), bytes.end()};
}

std::string without_trailing_space(std::string text) {
  const std::size_t last = text.find_last_not_of(std::string_view("\0 \n", 3));
  text.erase(last == std::string::npos ? 0 : last + 1);
  return text;
}

}  // namespace

Result<CompiledSource> compile_cuda_source(const std::filesystem::path& file, const std::string& entry,
                                           const std::string& architecture,
                                           const std::vector<std::string>& extra_options) {
  static const std::variant<Nvrtc, std::string> kLoaded = load_nvrtc();
  if (const std::string* reason = std::get_if<std::string>(&kLoaded))
    return Error{ErrorKind::unreadable, "cannot be compiled: " + *reason, file.string(), kRemedy};
  const Nvrtc& nvrtc = std::get<Nvrtc>(kLoaded);

  const Result<std::string> source = read_text_file(file, "name a file that you may read");
  if (!source) return source.error();
  Program* created = nullptr;
  if (nvrtc.create(&created, source->c_str(), file.c_str(), 0, nullptr, nullptr) != kSuccess)
    return Error{ErrorKind::malformed, "cannot be given to NVRTC", file.string(), kRemedy};
  const OwnedProgram program(created, Destroy{&nvrtc});
  if (!entry.empty()) (void)nvrtc.add_name(program.get(), entry.c_str());

  std::vector<std::string> options{"--gpu-architecture=" + architecture, "--std=c++17",
                                   "--include-path=" + std::filesystem::absolute(file).parent_path().string()};
  if (!nvrtc.headers.empty()) {
    options.push_back("--include-path=" + nvrtc.headers.string());
    options.push_back("--include-path=" + (nvrtc.headers / "cccl").string());
  }
  options.insert(options.end(), extra_options.begin(), extra_options.end());
  std::vector<const char*> arguments;
  for (const std::string& option : options) arguments.push_back(option.c_str());
  if (nvrtc.compile(program.get(), static_cast<int>(arguments.size()), arguments.data()) != kSuccess)
    return Error{ErrorKind::malformed,
                 "does not compile for " + architecture + ":\n" +
                     without_trailing_space(text_of(program.get(), nvrtc.log_size, nvrtc.log)),
                 file.string(), "mend it, or name its kernel as C++ does with --entry"};

  CompiledSource compiled{text_of(program.get(), nvrtc.cubin_size, nvrtc.cubin), ""};
  if (entry.empty()) return compiled;
  const char* lowered = nullptr;
  if (nvrtc.lowered_name(program.get(), entry.c_str(), &lowered) != kSuccess || lowered == nullptr)
    return Error{ErrorKind::bad_argument, "has no kernel " + entry, file.string(),
                 "name its kernel as C++ does with --entry"};
  compiled.entry = lowered;
  return compiled;
}

Result<CompiledSource> compile_cuda_source_apart(const std::filesystem::path& file, const std::string& entry,
                                                 const std::string& architecture,
                                                 const std::vector<std::string>& options) {
  constexpr std::chrono::seconds kCompilingLimit{300};
  // Two lines of base64: cubin and entry, or, after an empty one, what is wrong and what to do about it.
  const auto answer = ask_child(
      [&](const SendLine& send) {
        const Result<CompiledSource> compiled = compile_cuda_source(file, entry, architecture, options);
        if (!compiled) send("");
        send(encoded(compiled ? compiled->cubin : compiled.error().what));
        send(encoded(compiled ? compiled->entry : compiled.error().remedy));
      },
      kCompilingLimit);
  const auto error = [&file](std::string what, std::string remedy) {
    return Error{ErrorKind::malformed, std::move(what), file.string(), std::move(remedy)};
  };
  if (!answer) return error("compiling it: " + answer.error().what, answer.error().remedy);
  if (answer->size() == 3) return error(decoded((*answer)[1]), decoded((*answer)[2]));
  if (answer->size() != 2) return error("compiling it gave no answer", "see what it printed");
  return CompiledSource{decoded((*answer)[0]), decoded((*answer)[1])};
}

}  // namespace bitproof::conformance
