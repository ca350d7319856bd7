"""What a sweep's conditions have cost so far, by their journals and call logs."""

from collections.abc import Sequence
from pathlib import Path

from plenum.conditions import Job
from plenum.errors import UserError
from plenum.execution.ledger import Sum
from plenum.records import DamagedJournal, attempts, read_entries


def spent_before(jobs: Sequence[Job]) -> Sum:
    """Dollars, tokens and calls of all runs before.

    An answer counts by its journal entry, a failed attempt by what the call log says that it may
    have cost at most.

    Raises
    ------
    UserError
        A journal doesn't verify.
    """
    folders = {Path(job.journals) / job.condition.identity for job in jobs}
    try:
        return sum((_of_condition(folder) for folder in sorted(folders)), Sum())
    except DamagedJournal as damage:
        raise UserError(f"budget: what is spent can't be told: {damage}") from None


def _of_condition(folder: Path) -> Sum:
    total = Sum()
    for journal in folder.glob("[0-9]*.jsonl"):
        for entry in read_entries(journal):
            if "tokens_in" in entry and "inherited" not in entry:
                tokens = entry["tokens_in"] + entry["tokens_out"]
                total += Sum(entry["cost"] or 0.0, tokens, 1)
    for line in attempts(folder / "calls.jsonl"):
        if not line["answered"]:
            total += Sum(line.get("cost_at_most", 0.0), line.get("tokens_at_most", 0), 1)
    return total
