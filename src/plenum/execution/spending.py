"""What a sweep's conditions have cost so far, by their journals and call logs."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from plenum.base.errors import UserError
from plenum.design.condition import Job
from plenum.execution.ledger import Sum
from plenum.models.api.prices import Price
from plenum.records import DamagedJournal, attempts, read_entries


def spent_before(jobs: Sequence[Job], price: Callable[[str], Price | None]) -> Sum:
    """Dollars, tokens and calls of all runs before.

    An answer counts by its journal entry, a failed attempt by what the call log says that it may
    have cost at most. What had no price then is counted at the price that is known now.

    Raises
    ------
    UserError
        A journal doesn't verify.
    """
    folders = {Path(job.journals) / job.condition.folder for job in jobs}
    try:
        return sum((_of_condition(folder, price) for folder in sorted(folders)), Sum())
    except DamagedJournal as damage:
        raise UserError(f"budget: what is spent can't be told: {damage}") from None


def _of_condition(folder: Path, price: Callable[[str], Price | None]) -> Sum:
    total = Sum()
    for journal in folder.glob("[0-9]*.jsonl"):
        total += of_answers(read_entries(journal), price)
    return total + of_failures(folder / "calls.jsonl", price)


def of_answers(entries: Iterable[dict[str, Any]], price: Callable[[str], Price | None]) -> Sum:
    """What the answers in a journal cost; those that a branch inherited were paid elsewhere."""
    total = Sum()
    for entry in entries:
        if "tokens_in" in entry and "inherited" not in entry:
            read, said = entry["tokens_in"], entry["tokens_out"]
            cost = _cost(entry["cost"], price(entry["model"]), read, said)
            total += Sum(cost, read + said, 1)
    return total


def of_failures(log: Path, price: Callable[[str], Price | None]) -> Sum:
    """What the failed attempts in a call log may have cost at most."""
    total = Sum()
    for line in attempts(log):
        if not line["answered"]:
            most = line.get("tokens_at_most") or 0
            known = line.get("cost_at_most", 0.0)
            total += Sum(_cost(known, price(line["model"]), 0, most), most, 1)
    return total


def _cost(known: float | None, price: Price | None, tokens_in: int, tokens_out: int) -> float:
    if known is not None:
        return float(known)
    return price.of(tokens_in, tokens_out) if price else 0.0
