#!/bin/sh
# compile-cubin.sh CUBIN NVCC ARGUMENTS...: compiles, and keeps ptxas's report (registers, spills, shared memory) beside
# the cubin.
cubin=$1
shift
"$@" -Xptxas -v -o "$cubin" > "$cubin.resources" 2>&1 || { cat "$cubin.resources" >&2; exit 1; }
