// Which path a call of linear + GELU takes.
#pragma once

#include <string>

#include <dlpack/dlpack.h>

#include "kernels/linear_gelu/dispatch_table.h"
#include "kernels/linear_gelu/guard.h"

namespace bitproof::kernels {

// What the caller asks of the bits.
enum class Quality {
  lossless,  // those of the eager path
  high,      // those of either path: the epilogue's differ, in a way that is predicted bit by bit
};

struct LinearGeluChoice {
  LinearGeluPath path = LinearGeluPath::eager;
  std::string reason;  // in words
};

// Lossless requests always take eager; others take the epilogue where the guard allows it and the table says
// that it is the faster one.
LinearGeluChoice choose_linear_gelu_path(Quality quality, const LinearLayer& layer, const DLTensor& x,
                                         const DLTensor& output, int compute_capability,
                                         const DispatchTable& table = {});

}  // namespace bitproof::kernels
