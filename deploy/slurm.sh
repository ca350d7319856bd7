#!/bin/bash
# A sweep on several nodes of Slurm; the arguments are run.py's:
#
#   sbatch --nodes=4 deploy/slurm.sh study=big 'model=uniform,mixed' replicates=200
#
# The checkout, its .venv and the journals lie on a file system that all nodes share. Killed, timed out
# or preempted, the job is requeued, and the same command goes on from the journals.
#SBATCH --job-name=plenum
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=8
#SBATCH --time=24:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --signal=B:TERM@120
set -eu
if [ -z "${SLURM_JOB_NODELIST:-}" ]; then
    echo "error: it is a job of Slurm's: sbatch --nodes=4 deploy/slurm.sh study=big" >&2
    exit 2
fi
cd "${SLURM_SUBMIT_DIR:-$PWD}"
export RAY_USAGE_STATS_ENABLED=0
# Nobody else who can reach the nodes may join: the steps of this job alone have the token.
export RAY_AUTH_MODE=token RAY_AUTH_TOKEN
RAY_AUTH_TOKEN=$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')
unset RAY_ADDRESS
python=$PWD/.venv/bin/python
ray="$python -m ray.scripts.scripts"
port=$((20000 + ${SLURM_JOB_ID:-0} % 10000))
cpus=${SLURM_CPUS_PER_TASK:-1}
head=$(scontrol show hostnames "$SLURM_JOB_NODELIST" | head -n 1)
address=$(srun --nodes=1 --ntasks=1 -w "$head" hostname -I | cut -d' ' -f1):$port

# Ray runs in steps of the job's, which end with it; --block keeps each step.
srun --nodes=1 --ntasks=1 -w "$head" $ray start --head --port="$port" --num-cpus="$cpus" \
    --include-dashboard=false --block &
sleep 15
others=$((SLURM_JOB_NUM_NODES - 1))
if [ "$others" -gt 0 ]; then
    srun --nodes="$others" --ntasks="$others" --exclude="$head" \
        $ray start --address="$address" --num-cpus="$cpus" --block &
    sleep 15
fi

# On the head node: run.py joins the cluster of its own machine.
srun --overlap --nodes=1 --ntasks=1 -w "$head" \
    "$python" run.py -m hydra/launcher=ray ray.address="$address" "$@" &
sweep=$!
trap 'kill -TERM $sweep; wait $sweep || true; scontrol requeue "$SLURM_JOB_ID"' TERM
status=0
wait $sweep || status=$?
exit $status
