"""What the tables of accounts share: reasons in order, and sums of what calls took."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from plenum.reports.rows import Row
from plenum.tracking.usage import REASONS, ConditionUsage

WHY = {
    "budget": "the budget is used up",
    "unreachable": "a model's provider couldn't be reached",
    "held": "a model's provider asked to be left alone for longer than calls.max_wait_s",
    "interrupted": "stopped by Ctrl-C, SIGTERM or another call",
    "not_begun": "stopped before the first call",
    "error": "a damaged journal or a bug, which the run's closing lines name",
    "unknown": "killed, or still running",
}
"""Why replicates are pending, in words."""


class Spent(NamedTuple):
    """What calls took."""

    calls: int
    repairs: int
    attempts: int
    failed_attempts: int
    tokens_in: int
    tokens_out: int
    cost: float
    unpriced: int
    seconds: float


def effort(spent: Spent | None) -> dict[str, Any]:
    """What calls took, by name; empty where that isn't known."""
    return dict.fromkeys(Spent._fields) if spent is None else spent._asdict()


def distinct(found: Iterable[ConditionUsage]) -> list[ConditionUsage]:
    """Each condition once: one may stand under two labels, with the same replicates."""
    return list({a.tracked.identity: a for a in reversed(list(found))}.values())[::-1]


def rows_of(found: Iterable[ConditionUsage]) -> list[Row]:
    return [Row(a.tracked, None) for a in found]


def reasons_in(found: Iterable[ConditionUsage]) -> list[str]:
    """The reasons of failed replicates that occur."""
    return in_order({reason for a in found for reason, n in a.tracked.failures.items() if n})


def whys_in(found: Iterable[ConditionUsage]) -> list[str]:
    there = {why for a in found for why, n in a.pending.items() if n}
    return sorted(there, key=lambda why: (list(WHY).index(why) if why in WHY else -1, why))


def in_order(reasons: set[str]) -> list[str]:
    """In the order of the taxonomy."""
    return sorted(reasons, key=lambda r: (REASONS.index(r) if r in REASONS else len(REASONS), r))


def spaced(name: str) -> str:
    return name.replace("_", " ")


def spent_by(group: Sequence[ConditionUsage]) -> Spent | None:
    """What the calls of some conditions took; ``None`` where that isn't known of any."""
    if any(a.models is None for a in group) or not group:
        return None
    return summed(model for a in group for model in (a.models or {}).values())


def summed(models: Iterable[dict[str, Any]]) -> Spent:
    models = list(models)
    outcomes = [Counter(model["attempts"]) for model in models]
    summed = {
        key: sum(model[key] for model in models)
        for key in ("calls", "repairs", "tokens_in", "tokens_out", "cost", "unpriced", "seconds")
    }
    attempts = sum(outcome.total() for outcome in outcomes)
    ok = sum(outcome["ok"] for outcome in outcomes)
    return Spent(attempts=attempts, failed_attempts=attempts - ok, **summed)


def incomplete(found: Sequence[ConditionUsage]) -> list[str]:
    without = sum(a.models is None for a in found)
    return [
        f"attempts and calls of {without} of {len(found)} conditions aren't known yet: see above"
    ] * (without > 0)
