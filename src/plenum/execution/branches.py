"""Branching: a replicate that goes on from another one's journal (section S3)."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from plenum.conditions import Job
from plenum.records import DamagedJournal, read


def prefix(job: Job, index: int) -> Sequence[dict[str, Any]]:
    """The entries that a replicate inherits: none, unless its condition is a branching one.

    Replicate ``index`` continues base replicate ``index // continuations``, so that more bases
    only add replicates.

    Raises
    ------
    DamagedJournal
        The base hasn't got that far.
    """
    branch = job.condition.branch
    if branch is None:
        return ()
    base = index // branch.continuations
    folder = Path(job.journals) / job.condition.base.identity
    entries = _turns(folder / f"{base:03d}.jsonl", branch.after_round)
    turns = sum("state" in entry for entry in entries)
    if turns < branch.after_round * len(job.condition.seats):
        raise DamagedJournal(
            f"base replicate {base} of condition {job.condition.base.identity} hasn't finished "
            f"round {branch.after_round}; run it first, with branch.after_round=null"
        )
    return entries


@lru_cache(maxsize=64)
def _turns(journal: Path, rounds: int) -> tuple[dict[str, Any], ...]:
    if not journal.exists():
        return ()
    return tuple(
        entry
        for entry in read(journal).entries
        if entry["kind"] in ("turn", "turn_repair") and entry["round"] <= rounds
    )
