#!/bin/bash
# Tests everything on a Slurm cluster: one array task per shard, then one job that merges and gates.
#
#   REPORTS=/shared/run-1 sbatch --array=0-7 conformance/scale/slurm_array.sh
#
# Run it in the checkout, on a file system that all nodes share, after the build. The number of tasks is free: shards are
# contiguous ranges of blocks, so any division of the work gives the same digests. A task that is requeued resumes its
# report. `--array` must be a range; from a list with holes no task can tell which shard it is.
#SBATCH --job-name=bitproof
#SBATCH --gpus-per-task=1
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
#SBATCH --requeue
set -euo pipefail

reports=${REPORTS:?directory for the reports, shared by all nodes}
policy=${POLICY:-fixtures/policies/project.jsonc}

# The first task submits the gate. It waits for the whole array, failed tasks included: the gate says which shard is
# missing.
if [[ $SLURM_ARRAY_TASK_ID == "$SLURM_ARRAY_TASK_MIN" && ${SLURM_RESTART_COUNT:-0} == 0 ]]; then
  sbatch --job-name=bitproof-gate --dependency="afterany:$SLURM_ARRAY_JOB_ID" --output="$reports/gate.log" \
    --wrap="./bitproof gate '$reports' --policy '$policy' --junit '$reports/junit.xml'"
fi

# The shard is read from SLURM_ARRAY_TASK_ID, _MIN, _STEP and _COUNT.
srun ./bitproof run --require cuda --resume --report "$reports/task-$SLURM_ARRAY_TASK_ID"
