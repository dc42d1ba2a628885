#!/bin/bash
# One rank of an MPI job: `mpirun -n 4 conformance/scale/mpi.sh DIRECTORY [options of bitproof run]`. The shard is read from
# the launcher's variables (OpenMPI, or any that speaks PMI). Afterwards:
#
#   ./bitproof merge DIRECTORY --output DIRECTORY/merged.json
set -euo pipefail

directory=${1:?directory for the reports}
shift
rank=${OMPI_COMM_WORLD_RANK:-${PMI_RANK:?not started by mpirun}}
local_rank=${OMPI_COMM_WORLD_LOCAL_RANK:-${MPI_LOCALRANKID:-0}}

# Ranks of one host take its GPUs in turn; a single one sees all, if there are any.
if [[ -n ${BITPROOF_GPUS_PER_HOST:-} ]]; then
  export CUDA_VISIBLE_DEVICES=$((local_rank % BITPROOF_GPUS_PER_HOST))
fi
exec ./bitproof run --resume --report "$directory/rank-$rank" "$@"
