// Copies a [rows, width] tensor of 16-bit elements to another of its shape.
#pragma once

#include <dlpack/dlpack.h>

struct CUstream_st;

namespace bitproof::conformance {

// Both on the CPU, or both on one GPU, asynchronously on `stream`; the elements of a row are adjacent in both.
void copy_rows(const DLTensor& from, const DLTensor& to, CUstream_st* stream);

// The part of it that needs no CUDA.
void copy_rows_on_host(const DLTensor& from, const DLTensor& to);

}  // namespace bitproof::conformance
