"""Spending of conditions: the cost of earlier runs, and the usage that a replicate still needs."""

from collections.abc import Callable, Sequence
from pathlib import Path

from plenum.base.errors import UserError
from plenum.calls.api.prices import Price
from plenum.calls.budget import Ledger, bound_failures, sum_answers
from plenum.design.condition import Condition
from plenum.design.job import Job
from plenum.design.kinds import KINDS, Kind
from plenum.design.settings import Calls
from plenum.execution.condition_folder import find_condition_folder
from plenum.execution.cost_estimate import estimate_usage
from plenum.records.chain import DamagedJournal, read_entries
from plenum.records.usage import Usage


def estimate_needs(ledger: Ledger, condition: Condition, calls: Calls) -> Usage:
    """Estimate the usage of one replicate; zero without a budget or an estimate."""
    total = Usage()
    if not ledger.limited or not KINDS[condition.kind].has(Kind.find_longest_answer):
        return total
    for model, usage in estimate_usage(condition).items():
        price = ledger.find_price(model, calls.batch) if condition.backend.charged else None
        # Estimates have fractions; budgets count whole tokens and calls.
        tokens_in, tokens_out = round(usage.tokens_in), round(usage.tokens_out)
        dollars = price.of(tokens_in, tokens_out) if price else 0.0
        total += Usage(round(usage.calls), tokens_in, tokens_out, dollars)
    return total


def sum_spent_before(jobs: Sequence[Job], price: Callable[[str], Price | None]) -> Usage:
    """Sum up dollars, tokens and calls of all earlier runs.

    An answer counts by its journal entry, a failed attempt by the highest cost in the call log.
    What had no price then is counted at the price that is known now.

    Raises
    ------
    UserError
        A journal doesn't verify.
    """
    folders = {find_condition_folder(job) for job in jobs}
    try:
        return sum((_condition_usage(folder, price) for folder in sorted(folders)), Usage())
    except DamagedJournal as damage:
        raise UserError(f"budget: what is spent can't be told: {damage}") from None


def _condition_usage(folder: Path, price: Callable[[str], Price | None]) -> Usage:
    total = Usage()
    # By their digits: the call logs, which end in .jsonl too, are counted below.
    for journal in folder.glob("[0-9]*.jsonl"):
        total += sum_answers(read_entries(journal), price)
    return total + bound_failures(folder, price)
