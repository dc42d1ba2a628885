// A counterexample as a program in one file: the kernel, the smallest case that fails, and the wrong bits
// printed.
#pragma once

#include <optional>
#include <string>

#include "conformance/report/record.h"

namespace bitproof::conformance {

struct Reproducer {
  std::string file;  // "bias_gelu_tanh-bf16-mutant.sum_not_rounded-boundary.cpp"
  std::string text;
};

// Of a record whose counterexample was shrunk, for implementations whose kernel is a header of this project:
// host.fused, cuda.fused and the mutants, but for those whose fault is in the code that launches the kernel. A
// .cpp for the CPU and a .cu for a GPU, which need no other file; the first lines say how to compile it. It
// exits with 1 while the bits are wrong.
std::optional<Reproducer> reproducer_for(const Record& record);

}  // namespace bitproof::conformance
