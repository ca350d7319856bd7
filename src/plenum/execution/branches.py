"""Branches: replicates that continue another one's journal (section S3)."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from plenum.committee.condition import require_committee
from plenum.design.job import Job
from plenum.execution.condition_folder import find_condition_folder
from plenum.records.journal import drop_revoked
from plenum.records.transcript import read_transcript


class MissingBase(Exception):
    """Raised if a base replicate hasn't reached the round where its branches begin."""


def branch_prefix(job: Job, index: int) -> Sequence[dict[str, Any]]:
    """Return the entries that a replicate inherits; none unless it is a branch.

    Replicate ``index`` continues base replicate ``index // continuations``, so that more bases only
    add replicates.

    Raises
    ------
    MissingBase
        The base hasn't got that far.
    """
    branch = job.condition.branch
    if branch is None:
        return ()
    # The continuations of one base have consecutive numbers.
    base = index // branch.continuations
    journal = find_condition_folder(job).parent / job.condition.base.folder / f"{base:03d}.jsonl"
    condition = require_committee(job.condition)
    answers = len(condition.asked) + condition.moderated
    return _turns(journal, branch.after_round, answers)


# All continuations of a base read its journal, one after the other: 64 hold the bases that are
# branched off at a time.
@lru_cache(maxsize=64)
def _turns(journal: Path, rounds: int, answers: int) -> tuple[dict[str, Any], ...]:
    """Read the first rounds of so many answers, with repairs; cached once they are complete."""
    entries = tuple(
        entry
        for entry in drop_revoked(read_transcript(journal).entries if journal.exists() else ())
        if entry["kind"].removesuffix("_repair") in ("turn", "summary") and entry["round"] <= rounds
    )
    # A turn counts by its state, which the answer or its repair has: one of two entries.
    if sum("state" in entry or "summary" in entry for entry in entries) < rounds * answers:
        # An exception isn't cached: the next replicate looks at the base again.
        raise MissingBase(
            f"base replicate {journal.stem} of condition {journal.parent.name} hasn't finished "
            f"round {rounds}; run it first, with branch.after_round=null"
        )
    return entries
