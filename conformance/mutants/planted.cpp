#include "conformance/mutants/planted.h"

#include <csignal>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <unistd.h>

namespace bitproof::conformance {
namespace {

ElementwiseImplementation planted(std::string_view name, void (*fault)()) {
  return {.name = std::string(name),
          .location = Location::host,
          .vector_elements = 8,
          .can_use = [](const Tensors&) { return kernels::Applicability{}; },
          .run = [fault](const Tensors&, CUstream_st*) { fault(); }};
}

// These two end by the signal itself: a sanitizer's handler would exit with a report of its own.
void crash() {
  (void)std::signal(SIGSEGV, SIG_DFL);
  (void)std::raise(SIGSEGV);
}

void abort_process() {
  (void)std::signal(SIGABRT, SIG_DFL);
  std::abort();
}

void hang() {
  for (;;) ::pause();
}

void devour_memory() {
  std::vector<std::vector<char>> eaten;
  for (;;) eaten.emplace_back(std::size_t{1} << 26, 'x');
}

}  // namespace

std::vector<ElementwiseImplementation> planted_host_implementations() {
  return {planted("planted.crash", crash), planted("planted.abort", abort_process),
          planted("planted.exit", [] { ::_exit(0); }), planted("planted.hang", hang),
          planted("planted.out_of_memory", devour_memory)};
}

}  // namespace bitproof::conformance
