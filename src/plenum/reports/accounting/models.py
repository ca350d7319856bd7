"""What the calls to each model took."""

import math
from collections.abc import Iterable, Sequence
from typing import Any

from plenum.reports.accounting.common import (
    Spent,
    dollars,
    in_order,
    incomplete,
    rows_of,
    spaced,
    summed,
)
from plenum.reports.sheets import Sheet, number, provenance
from plenum.tracking.accounts import Accounted


def models(found: Sequence[Accounted]) -> list[Sheet]:
    """One line a model, and their total; no table where no condition has accounts."""
    groups = by_model(found)
    if not groups:
        return []
    outcomes = _outcomes(found)
    head = (
        *("model", "calls", "repairs", "repair rate", "attempts", "failed attempts"),
        *(*map(spaced, outcomes), "tokens in", "tokens out", "$", "mean latency s"),
    )
    lines = dict(groups)
    if len(groups) > 1:
        lines["total"] = [model for group in groups.values() for model in group]
    body = tuple((name, *_of_model(group, outcomes)) for name, group in lines.items())
    notes = (
        "repair rate: repairs for each call that wasn't one; failed attempts by outcome; mean "
        "latency: of an attempt, failed ones among them",
        *incomplete(found),
        provenance(rows_of(found)),
    )
    return [Sheet("Calls by model", head, body, notes)]


def by_model(found: Iterable[Accounted]) -> dict[str, list[dict[str, Any]]]:
    groups: dict[str, list[dict[str, Any]]] = {}
    for a in found:
        for name, model in (a.models or {}).items():
            groups.setdefault(name, []).append(model)
    return dict(sorted(groups.items()))


def _outcomes(found: Iterable[Accounted]) -> list[str]:
    """The outcomes of failed attempts that occur."""
    return in_order({name for a in found for name in a.outcomes or {}})


def _of_model(group: Sequence[dict[str, Any]], outcomes: Sequence[str]) -> tuple[str, ...]:
    spent = summed(group)
    by = [sum(model["attempts"].get(outcome, 0) for model in group) for outcome in outcomes]
    return (
        *(f"{spent.calls:,}", f"{spent.repairs:,}", _percent(_repair_rate(spent))),
        *(f"{n:,}" for n in (spent.attempts, spent.failed_attempts, *by)),
        *(f"{spent.tokens_in:,}", f"{spent.tokens_out:,}", dollars(spent)),
        number(_latency(spent), 3),
    )


def _repair_rate(spent: Spent) -> float:
    asked_once = spent.calls - spent.repairs
    return spent.repairs / asked_once if asked_once else math.nan


def _latency(spent: Spent) -> float:
    return spent.seconds / spent.attempts if spent.attempts else math.nan


def _percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{share:.1%}"


def model_record(
    name: str, group: Sequence[dict[str, Any]], found: Sequence[Accounted]
) -> dict[str, object]:
    spent = summed(group)
    by = {o: sum(model["attempts"].get(o, 0) for model in group) for o in _outcomes(found)}
    return {
        **{"model": name, **spent._asdict()},
        **{f"attempts_{outcome}": count for outcome, count in by.items()},
        **{"repair_rate": _repair_rate(spent), "mean_latency_s": _latency(spent)},
    }
