"""What a sweep would run, without a call."""

from collections.abc import Sequence
from pathlib import Path

from plenum.conditions import Job


def plan(jobs: Sequence[Job]) -> str:
    """Conditions, replicates and calls of a sweep; repairs and retries come on top."""
    lines = []
    for job in jobs:
        folder = Path(job.journals) / job.condition.identity
        there = len(list(folder.glob("[0-9]*.jsonl")))
        lines.append(
            f"{job.condition.identity}  {job.condition}: {job.replicates} replicates of "
            f"{job.condition.calls} calls, {min(there, job.replicates)} journals begun or done"
        )
    replicates = sum(job.replicates for job in jobs)
    calls = sum(job.condition.calls * job.replicates for job in jobs)
    lines.append(
        f"in all {len(jobs)} conditions, {replicates} replicates, {calls} calls before repairs; "
        "nothing was run"
    )
    return "\n".join(lines)
